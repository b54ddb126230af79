#include <fmt/format.h>
#include <croquis/core/require.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace croquis {

std::string as_one_line(std::string text) {
  constexpr char del = 0x7f;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == del; }, '?');
  return text;
}

void require(bool ok, std::string_view where, std::string_view rule, std::initializer_list<Got> got) {
  if (ok) return;
  std::string message = fmt::format("{}: {}", where, rule);
  std::string_view separator = ", got ";
  for (const Got& item : got) {
    std::visit([&](const auto& value) { message += fmt::format("{}{} = {}", separator, item.name, value); },
               item.value);
    separator = ", ";
  }
  throw std::invalid_argument(as_one_line(std::move(message)));
}

}  // namespace croquis
