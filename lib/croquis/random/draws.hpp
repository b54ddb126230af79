// Random words, uniform numbers, normals and signs, each computed from a random key and a position.
#pragma once

#include <Random123/uniform.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>

namespace croquis {

/// out[i] = u_{first + i} for i = 0 ... count-1, where u_k is the 64-bit word in half k % 2 of block k / 2.
/// Randomness: u_k depends only on the key and on k.
void fill_words(const Key& key, std::uint64_t first, std::uint64_t count, std::uint64_t* out);

/// (w + 1/2) 2^-64 for the 64-bit word w = low + 2^32 high, rounded to double. Uniform on (0, 1], never 0.
inline double uniform_of(std::uint32_t low, std::uint32_t high) {
  return r123::u01<double>(low | static_cast<std::uint64_t>(high) << 32);
}

/// The uniform number of block k, from its first two words.
inline double uniform_at(const Key& key, std::uint64_t k) {
  const auto words = key.block(k);
  return uniform_of(words[0], words[1]);
}

/// out[i] = z_{first + i} for i = 0 ... count-1, where z_0, z_1, ... are the independent N(0,1) numbers of the key.
///
/// Distribution: Box-Muller on the words of a block. Block k gives z_2k, z_2k+1 in double and z_4k ... z_4k+3 in float,
///   so the two precisions are different draws (those of normal_matrix() are the same). |z| is at most 9.5 (double) and
///   6.8 (float), which leaves out a probability of 2e-21 and 1e-11.
/// Randomness: z_i depends only on the key and on i. Processors with and without fused multiply-add differ by a few
///   units in the last place.
/// Cost: vectorised; a logarithm, a square root, a sine and a cosine for every two numbers. A block of words gives two
///   numbers in double and four in float.
void fill_normal(const Key& key, std::uint64_t first, std::uint64_t count, float* out);
void fill_normal(const Key& key, std::uint64_t first, std::uint64_t count, double* out);

/// out[i] = +magnitude if bit first + i of the key is 0, otherwise -magnitude. Bit k is bit k % 128 of block k / 128.
/// Randomness: a sign depends only on the key and on first + i, and is the same in float and double.
void fill_signs(const Key& key, std::uint64_t first, std::uint64_t count, float magnitude, float* out);
void fill_signs(const Key& key, std::uint64_t first, std::uint64_t count, double magnitude, double* out);

/// floor(word bound / 2^64) for bound < 2^32. Each of 0 ... bound-1 has probability 1/bound, up to 2^-64.
constexpr std::uint64_t place_of(std::uint64_t word, std::uint64_t bound) {
  const std::uint64_t high = word >> 32, low = word & 0xffffffff;
  return (high * bound + (low * bound >> 32)) >> 32;
}

/// Whether the lowest bit of the word is 1. place_of depends on the high bits, so the two are independent up to 2^-63.
constexpr bool is_negative(std::uint64_t word) {
  return (word & 1) != 0;
}

}  // namespace croquis
