#include <utf8proc.h>

#include <croquis/io/utf8.hpp>

namespace croquis {

std::optional<char32_t> next_character(std::string_view text, std::size_t& place) {
  utf8proc_int32_t character = -1;
  const utf8proc_ssize_t size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + place,
                                                 static_cast<utf8proc_ssize_t>(text.size() - place), &character);
  place += size > 0 ? static_cast<std::size_t>(size) : 1;
  if (size <= 0) return std::nullopt;
  return static_cast<char32_t>(character);
}

std::optional<std::size_t> first_not_utf8(std::string_view text) {
  for (std::size_t place = 0; place < text.size();) {
    const std::size_t first = place;
    if (!next_character(text, place)) return first;
  }
  return std::nullopt;
}

}  // namespace croquis
