// Text in UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace croquis {

/// Returns the character at `place` and moves past it. If the bytes are not UTF-8, returns nothing and moves by one
/// byte.
std::optional<char32_t> next_character(std::string_view text, std::size_t& place);

/// The place of the first byte that is not UTF-8; nothing where all are.
std::optional<std::size_t> first_not_utf8(std::string_view text);

}  // namespace croquis
