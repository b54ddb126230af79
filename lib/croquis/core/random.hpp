// Counter-based random keys: no state that advances, no global generator.
#pragma once

#include <Random123/philox.h>

#include <Random123/conventional/Engine.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace croquis {

/// A uniform random bit generator for the distributions of Boost.Random; 2^64 blocks long.
using Engine = r123::Engine<r123::Philox4x32>;

/// A random key: a 128-bit name, from which words are drawn by position.
///
/// Guarantees: block k is Philox4x32-10 with the name as key and upper counter (Salmon et al. 2011). Keys are derived
///   by name, `key.child("landmarks").child(trial)`; children of one key with different tags never coincide,
///   because Threefry4x32-20, which derives them, is a bijection of the tag. Draws (Philox) and names (Threefry) come
///   from different functions, so no draw is ever a name.
/// Randomness: a Key never changes. Two draws from one key at the same position are the same draw: give every
///   purpose a child of its own.
class Key {
 public:
  explicit Key(std::uint64_t seed);

  Key child(std::string_view purpose) const;
  Key child(std::uint64_t index) const;

  /// The name as 32 hexadecimal digits, and the key of such a name: how a draw is written down and made again.
  /// from_name throws std::invalid_argument for anything but 32 hexadecimal digits.
  std::string name() const;
  static Key from_name(std::string_view hexadecimal);

  /// The name as four words, for those who draw many blocks at once.
  const std::array<std::uint32_t, 4>& words() const { return name_; }

  /// Four random words: block k of the key, 0 <= k < 2^64.
  std::array<std::uint32_t, 4> block(std::uint64_t k) const;

  /// A sequential engine over the words of blocks 1, 2, ... of the key.
  Engine engine() const;

 private:
  using Name = std::array<std::uint32_t, 4>;
  explicit Key(const Name& name) : name_(name) {}
  Key derive(std::uint64_t tag, std::uint32_t domain) const;

  Name name_;
};

/// out[i] = z_{first + i}, i = 0 ... count-1, where z_0, z_1, ... are the independent N(0,1) of the key.
///
/// Guarantees: Box-Muller on the words of a block: block k gives z_2k, z_2k+1 in double and z_4k ... z_4k+3 in float.
///   The two precisions are different draws. |z| is at most 9.5 (double) and 6.8 (float), which leaves out 2e-21 and
///   1e-11.
/// Randomness: z_i depends on the key and i alone. Processors with and without fused multiplication and addition
///   round it differently, by some units of the last place.
/// Cost: vectorised, about 4 instructions a number in float and 8 in double.
template <typename T>
void fill_normal(const Key& key, std::uint64_t first, std::uint64_t count, T* out);

}  // namespace croquis
