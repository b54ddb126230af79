#include "options/method_files.hpp"

#include <croquis/attention/method.hpp>
#include <croquis/attention/options.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/digest.hpp>

std::map<std::string, std::string> identity_of_files(const std::vector<croquis::MethodChoice>& methods) {
  std::map<std::string, std::string> identity;
  for (const croquis::MethodChoice& choice : methods) {
    if (choice.options.all().empty()) continue;  // as of exact attention, which is no method
    for (const croquis::OptionInfo& option : croquis::find_method<double>(choice.name).options) {
      const auto given = choice.options.all().find(option.name);
      if (option.values != croquis::kFileOption || given == choice.options.all().end()) continue;
      identity["contents of " + given->second] = croquis::digest_of(croquis::read_bytes(given->second));
    }
  }
  return identity;
}
