// What the program says when it cannot go on.
#pragma once

#include <croquis/distributed/communicator.hpp>
#include <string>

constexpr int kBadUsage = 2;  ///< the exit status

/// "croquis: WHAT" on standard error, in one line, whatever the names and values are that it quotes: no line break, no
/// command to the terminal, UTF-8.
void complain(const std::string& what, const std::string& where = "");

/// The same on several ranks, and their end. What goes wrong goes wrong on all of them, most often: rank 0 says so and
/// ends the others, before they say the same.
[[noreturn]] void fail_together(croquis::Communicator& world, const std::string& why);
