#include "complaint.hpp"

#include <fmt/format.h>

#include <chrono>
#include <croquis/io/json.hpp>
#include <cstdio>
#include <thread>

#include "files/progress.hpp"

void complain(const std::string& what, const std::string& where) {
  const std::string line = croquis::json_text(what);
  std::string text;
  for (std::size_t i = 1; i + 1 < line.size(); ++i) {
    const bool plain = line[i] == '\\' && (line[i + 1] == '"' || line[i + 1] == '\\');  // an escape that is not needed
    if (plain) ++i;
    text += line[i];
  }
  say(fmt::format("croquis{}: {}\n", where, text));
}

void fail_together(croquis::Communicator& world, const std::string& why) {
  if (world.rank() > 0) std::this_thread::sleep_for(std::chrono::seconds(2));
  complain(why, world.rank() > 0 ? fmt::format(" on rank {}", world.rank()) : "");
  std::fflush(nullptr);
  world.abort(kBadUsage);
}
