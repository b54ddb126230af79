#include <fmt/format.h>
#include <croquis/core/require.hpp>

#include <stdexcept>
#include <string>

namespace croquis {

void require(bool ok, std::string_view where, std::string_view rule, std::initializer_list<Got> got) {
  if (ok) return;
  std::string message = fmt::format("{}: {}", where, rule);
  std::string_view separator = ", got ";
  for (const Got& item : got) {
    std::visit([&](const auto& value) { message += fmt::format("{}{} = {}", separator, item.name, value); },
               item.value);
    separator = ", ";
  }
  throw std::invalid_argument(message);
}

}  // namespace croquis
