// Signs and places from the words of a key, by position.
#pragma once

#include <croquis/core/words.hpp>
#include <cstdint>

namespace croquis {

/// out[i] = +magnitude or -magnitude as bit first + i of the key is 0 or 1; bit k is bit k % 128 of block k / 128.
/// Randomness: the sign of i depends on the key and first + i alone, and is the same in float and double.
template <typename T>
void fill_signs(const Key& key, std::uint64_t first, std::uint64_t count, T magnitude, T* out);

/// floor(word bound / 2^64), for bound < 2^32: each of 0 ... bound-1 has probability 1/bound up to 2^-64.
constexpr std::uint64_t place_of(std::uint64_t word, std::uint64_t bound) {
  const std::uint64_t high = word >> 32, low = word & 0xffffffff;
  return (high * bound + (low * bound >> 32)) >> 32;
}

/// The lowest bit of a word is its sign: place_of takes the others, up to 2^-63.
constexpr bool is_negative(std::uint64_t word) {
  return (word & 1) != 0;
}

}  // namespace croquis
