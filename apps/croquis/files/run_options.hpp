// The options that experiments have in common, and what is checked of them before a run.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "files/companions.hpp"

/// Options that the experiments have in common.
struct RunOptions {
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  std::string precision = "double";
  std::string out, plot;
  std::string shard;  ///< "i/N"; all of it when empty
  bool quiet = false, resume = false, overwrite = false;
  std::set<std::string> given;              ///< the options that the user gave, as "--eps"
  std::string command_line, configuration;  ///< for the meta file
};

/// What is to be done with a file that is there already. Throws std::invalid_argument when both were asked for.
Existing existing_file(const RunOptions& options);

/// Sets the library's threads and makes BLAS single-threaded; checks that the files are different ones and that the
/// plot can be drawn. To be called first. Throws std::invalid_argument.
void prepare_run(const RunOptions& options);

/// Throws std::invalid_argument, with the value of `option` that would do in place of `count`, when a run of so many
/// rows is more than memory holds. To be called before the rows are planned.
void require_room_for_rows(double rows, const std::string& option, long long count);
