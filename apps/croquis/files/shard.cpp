#include "files/shard.hpp"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

Shard parse_shard(const std::string& text) {
  constexpr std::size_t most = 1 << 20;
  Shard shard;
  if (text.empty()) return shard;
  const char *at = text.data(), *end = at + text.size();
  const auto [slash, wrong_index] = std::from_chars(at, end, shard.index);
  if (wrong_index == std::errc{} && slash != end && *slash == '/') {
    const auto [stop, wrong_count] = std::from_chars(slash + 1, end, shard.count);
    if (wrong_count == std::errc{} && stop == end && shard.index >= 1 && shard.index <= shard.count &&
        shard.count <= most) {
      return shard;
    }
  }
  throw std::invalid_argument(fmt::format("--shard: '{}' is not i/N with i from 1 to N, as 2/4", text));
}
