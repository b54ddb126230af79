// In the place of the folder verify/ where Croquis is built without its claims.
#include <stdexcept>

#include "commands/command.hpp"
#include "commands/verify/listing.hpp"

namespace {

[[noreturn]] void refuse(const char* what) {
  throw std::invalid_argument(
      std::string(what) +
      ": this build has no claims; cmake --preset release -DCROQUIS_WITH_CLAIMS=ON and then cmake --build --preset "
      "release add them");
}

}  // namespace

Command verify_command() {
  return {.name = "verify",
          .summary = "the claims ledger; not in this build (CROQUIS_WITH_CLAIMS=OFF)",
          .example = "",
          .add_options = [](CLI::App& app) { app.prefix_command(); },  // whatever is asked of it has one answer
          .run = [](const CLI::App&, const std::string&) -> int { refuse("verify"); },
          .one_rank = true};
}

void print_claims() {
  refuse("list claims");
}
