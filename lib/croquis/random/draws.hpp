// Draws by position: words, uniform numbers, normals, signs, and places in a range.
#pragma once

#include <Random123/uniform.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>

namespace croquis {

/// out[i] = u_{first + i}, i = 0 ... count-1, where u_k is the 64-bit word of half k % 2 of block k / 2.
/// Randomness: u_k depends on the key and k alone.
void fill_words(const Key& key, std::uint64_t first, std::uint64_t count, std::uint64_t* out);

/// (w + 1/2) 2^-64 for the 64-bit word w = low + 2^32 high, rounded to double: uniform on (0, 1], never 0.
inline double uniform_of(std::uint32_t low, std::uint32_t high) {
  return r123::u01<double>(low | static_cast<std::uint64_t>(high) << 32);
}

/// The uniform number of block k: of its first two words.
inline double uniform_at(const Key& key, std::uint64_t k) {
  const auto words = key.block(k);
  return uniform_of(words[0], words[1]);
}

/// out[i] = z_{first + i}, i = 0 ... count-1, where z_0, z_1, ... are the independent N(0,1) of the key.
///
/// Distribution: Box-Muller on the words of a block: block k gives z_2k, z_2k+1 in double and z_4k ... z_4k+3 in float.
///   The two precisions are different draws. |z| is at most 9.5 (double) and 6.8 (float), which leaves out 2e-21 and
///   1e-11.
/// Randomness: z_i depends on the key and i alone. Processors with and without fused multiplication and addition
///   round it differently, by some units of the last place.
/// Cost: vectorised, about 4 instructions a number in float and 8 in double.
void fill_normal(const Key& key, std::uint64_t first, std::uint64_t count, float* out);
void fill_normal(const Key& key, std::uint64_t first, std::uint64_t count, double* out);

/// out[i] = +magnitude or -magnitude as bit first + i of the key is 0 or 1; bit k is bit k % 128 of block k / 128.
/// Randomness: the sign of i depends on the key and first + i alone, and is the same in float and double.
void fill_signs(const Key& key, std::uint64_t first, std::uint64_t count, float magnitude, float* out);
void fill_signs(const Key& key, std::uint64_t first, std::uint64_t count, double magnitude, double* out);

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
