// Random keys: counter-based randomness without a state that advances and without a global generator.
#pragma once

#include <Random123/philox.h>

#include <Random123/conventional/Engine.hpp>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// A uniform random bit generator for the distributions of Boost.Random; 2^64 blocks long.
using Engine = r123::Engine<r123::Philox4x32>;

/// A random key: 128 bits from which random words are computed by position. (A key of attention, a row of K, is
/// something else. Where both occur, the random key is called draw_key.)
///
/// A key never changes. The same position of the same key always gives the same draw, whoever asks and in whatever
/// order. So every purpose, trial and index gets a child key of its own: key.child("landmarks").child(trial), like
/// fold_in in JAX.
/// Words: block k is Philox4x32-10 (Salmon et al. 2011) of the counter (k, last two words of the key), with the first
///   two words of the key as its key.
/// Children: child(i) is Threefry4x32-20 of the counter (i, domain of indices) under the key. child(name) is that of
///   (hash of the name, domain of names), where the hash is the 64-bit FNV-1a. Key(seed) is that of (seed, domain of
///   seeds) under the zero key.
/// Guarantees: under one key Threefry is a bijection of the counter. So children of one key with different indices are
///   always different keys, and so are a child by index and a child by name. Two names give the same child only if
///   their 64-bit hashes collide, with probability 2^-64 for two names that were not made to collide. Two keys with
///   different parents are equal with probability 2^-128, as far as Threefry behaves like a random function. Words come
///   from a different function than keys, so no draw is ever used as a key.
class Key {
 public:
  explicit Key(std::uint64_t seed);

  Key child(std::string_view purpose) const;
  Key child(std::uint64_t index) const;
  /// child(0), ..., child(count - 1). Throws std::invalid_argument if they are more than memory holds.
  std::vector<Key> children(std::uint64_t count) const;

  /// The key as 32 hexadecimal digits, and the key with these digits. With them a draw can be recorded and repeated.
  /// from_name throws std::invalid_argument for anything but 32 hexadecimal digits.
  std::string name() const;
  static Key from_name(std::string_view hexadecimal);

  /// The key as four words, for code that computes many blocks at once.
  const std::array<std::uint32_t, 4>& words() const { return words_; }

  /// Four random words: block k of the key, 0 <= k < 2^64.
  std::array<std::uint32_t, 4> block(std::uint64_t k) const;

  /// A sequential engine over the words of blocks 1, 2, ... of the key.
  Engine engine() const;

 private:
  using Words = std::array<std::uint32_t, 4>;
  explicit Key(const Words& words) : words_(words) {}
  Key derive(std::uint64_t tag, std::uint32_t domain) const;

  Words words_;
};

}  // namespace croquis
