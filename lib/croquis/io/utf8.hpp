// Text in UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace croquis {

/// Returns the character at `place` and moves `place` past it. If the bytes there are not UTF-8, the result is empty,
/// and `place` moves by one byte.
std::optional<char32_t> next_character(std::string_view text, std::size_t& place);

/// The place of the first byte that is not UTF-8; empty if the whole text is UTF-8.
std::optional<std::size_t> first_not_utf8(std::string_view text);

}  // namespace croquis
