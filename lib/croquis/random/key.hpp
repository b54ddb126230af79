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
/// something else: where both occur the random one is called draw_key.)
///
/// A key never changes. The same position of the same key is the same draw, whoever asks and in whatever order, so
/// every purpose, trial and index gets a child of its own: key.child("landmarks").child(trial), as fold_in of JAX.
///   Words: block k is Philox4x32-10 of the counter (k, last two words of the key) under its first two (Salmon et al.
///   2011).
///   Children: child(i) is Threefry4x32-20 of the counter (i, domain of indices) under the key, child(name) that of
///   (hash of the name, domain of names), hash the 64-bit FNV-1a; Key(seed) is that of (seed, domain of seeds) under
///   the zero key.
/// Guarantees: under one key Threefry is a bijection of the counter. So children of one key with different indices, and
///   an index and a name, are always different keys; two names give the same child only if their 64-bit hashes collide
///   (probability 2^-64 for two names that were not made for it). Keys of different parents are the same with
///   probability 2^-128 a pair, as far as Threefry passes for random. Words come from another function than keys, so
///   that no draw is used as a key.
class Key {
 public:
  explicit Key(std::uint64_t seed);

  Key child(std::string_view purpose) const;
  Key child(std::uint64_t index) const;
  /// child(0), ..., child(count - 1).
  std::vector<Key> children(std::uint64_t count) const;

  /// The key as 32 hexadecimal digits, and the key of such digits: how a draw is written down and made again.
  /// from_name throws std::invalid_argument for anything but 32 hexadecimal digits.
  std::string name() const;
  static Key from_name(std::string_view hexadecimal);

  /// The key as four words, for those who compute many blocks at once.
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
