#include <doctest/doctest.h>
#include <croquis/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"

using namespace croquis;

namespace {

using Words = std::array<std::uint32_t, 4>;

template <typename T>
using Fill = std::function<void(const Key&, std::uint64_t first, std::uint64_t count, T*)>;

template <typename T>
std::vector<double> draws(const Fill<T>& fill, const Key& key, std::uint64_t count, std::uint64_t first = 0) {
  std::vector<T> z(count);
  fill(key, first, count, z.data());
  return {z.begin(), z.end()};
}

}  // namespace

TEST_CASE("Philox: the known answers of Random123 for all bits zero, all bits one and pi") {
  const auto philox = [](const Words& c, std::uint32_t key0, std::uint32_t key1) {
    const auto out = r123::Philox4x32{}({{c[0], c[1], c[2], c[3]}}, {{key0, key1}});
    return Words{out[0], out[1], out[2], out[3]};
  };
  const std::uint32_t ones = 0xffffffff;
  CHECK(philox({0, 0, 0, 0}, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({ones, ones, ones, ones}, ones, ones) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("Key: seeds, names and indices lead to different keys, also where they look alike") {
  // 128-bit blocks: two of 2,010 keys agree by chance with probability below 2010^2 / 2^129 = 1e-32.
  const Key root(test_seed());
  std::vector<Key> keys = {root};
  for (std::uint64_t i = 0; i < 1000; ++i) keys.push_back(root.child(i));
  for (std::uint64_t i = 0; i < 1000; ++i) keys.emplace_back(test_seed() + 1 + i);
  for (const char* name : {"a", "b", "ab", "ba", "", "0"}) keys.push_back(root.child(name));
  keys.push_back(root.child("a").child("b"));
  keys.push_back(root.child("b").child("a"));
  keys.push_back(root.child(test_seed()));
  std::set<Words> blocks;
  for (const Key& key : keys) blocks.insert(key.block(0));
  CHECK(blocks.size() == keys.size());
}

TEST_CASE("Key: high and low words of a seed, of an index and of a block number all matter") {
  const std::uint64_t high = std::uint64_t{1} << 32;
  CHECK(Key(7).block(0) != Key(7 + high).block(0));
  const Key root(test_seed());
  CHECK(root.child(7).block(0) != root.child(7 + high).block(0));
  CHECK(root.block(7) != root.block(7 + high));
  CHECK(root.block(7) != root.block(8));
}

TEST_CASE("Key: the same path gives the same key, in any order of asking") {
  const Key first = Key(test_seed()).child("trial").child(3);
  const Key root(test_seed());
  const Key other = root.child("trial").child(4);
  const Key second = root.child("trial").child(3);
  for (const std::uint64_t k : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    CHECK(first.block(k) == second.block(k));
    CHECK(first.block(k) != other.block(k));
  }
}

TEST_CASE("Key: a name is 32 hexadecimal digits that give the key back") {
  const Key key = Key(test_seed()).child("written").child(7);
  CHECK(key.name().size() == 32);
  CHECK(key.name().find_first_not_of("0123456789abcdef") == std::string::npos);
  const Key again = Key::from_name(key.name());
  CHECK(again.name() == key.name());
  CHECK(again.block(5) == key.block(5));
  CHECK(again.child("x").block(0) == key.child("x").block(0));
  CHECK(key.child(0).name() != key.name());
  const std::string zeros = "00000001000000000000000000000000";
  CHECK(Key::from_name(zeros).name() == zeros);
  for (const std::string bad :
       {"", "0000000000000000000000000000000", "000000000000000000000000000000000", "0000000000000000000000000000000g",
        "0000000000000000000000000000000 ", "-0000000000000000000000000000000", "+0000000000000000000000000000000",
        "0x000000000000000000000000000000"}) {
    CHECK(refusal([&] { Key::from_name(bad); }) ==
          std::string("Key::from_name: 32 hexadecimal digits, got name = ").append(bad));
  }
}

TEST_CASE("Key::engine: draws the words of blocks 1, 2, ... of its key, each once") {
  const Key key = Key(test_seed()).child("engine");
  Engine engine = key.engine();
  for (std::uint64_t k = 1; k <= 3; ++k) {
    Words drawn{}, block = key.block(k);
    for (std::uint32_t& word : drawn) word = engine();
    std::sort(drawn.begin(), drawn.end());
    std::sort(block.begin(), block.end());
    CHECK(drawn == block);
  }
  Engine again = key.engine(), other = key.child(0).engine();
  const std::uint32_t word = again();
  CHECK(word == key.engine()());
  CHECK(word != other());
}

TEST_CASE_TEMPLATE("fill_normal: a window is that slice of the long fill, wherever it begins and ends", T, float,
                   double) {
  const Key key = Key(test_seed()).child("window");
  std::vector<T> all(64);
  fill_normal(key, 0, all.size(), all.data());
  for (std::size_t first = 0; first < 12; ++first) {
    for (std::size_t count = 0; count < 12; ++count) {
      std::vector<T> window(count + 1, T(-99));
      fill_normal(key, first, count, window.data());
      REQUIRE(std::equal(window.begin(), window.end() - 1, all.begin() + static_cast<std::ptrdiff_t>(first)));
      REQUIRE(window[count] == T(-99));  // nothing beyond the end
    }
  }
  const std::uint64_t far = std::uint64_t{1} << 40;
  std::vector<T> long_way(9), piece(3);
  fill_normal(key, far, 9, long_way.data());
  fill_normal(key, far + 5, 3, piece.data());
  CHECK(std::equal(piece.begin(), piece.end(), long_way.begin() + 5));
  CHECK(std::none_of(long_way.begin(), long_way.end(), [&](T z) { return z == all[0]; }));
}

TEST_CASE_TEMPLATE("fill_normal: the distribution is N(0,1) along a key, and mutants are rejected", T, float, double) {
  // 65,536 draws. A scale of 1.05 moves the sum of squares by 0.1025 n, 18 of its deviations sqrt(2 n); |z| and z + 0.1
  // move the mean by 200 and 25 deviations.
  constexpr double failure = 1e-9;
  const Key key = Key(test_seed()).child("law");
  const auto accepts = [&](const Fill<T>& fill) { return sample_is_normal(draws<T>(fill, key, 65536), failure); };
  CHECK(accepts(fill_normal<T>));

  const auto mutant = [](const std::function<T(T)>& change) -> Fill<T> {
    return [change](const Key& s, std::uint64_t first, std::uint64_t count, T* z) {
      fill_normal(s, first, count, z);
      std::transform(z, z + count, z, change);
    };
  };
  CHECK_FALSE(accepts(mutant([](T z) { return T(1.05) * z; })));
  CHECK_FALSE(accepts(mutant([](T z) { return std::abs(z); })));
  CHECK_FALSE(accepts(mutant([](T z) { return z + T(0.1); })));
  // Uniform with the mean and the variance of N(0,1): only the shape is wrong.
  CHECK_FALSE(
      accepts(mutant([](T z) { return T(std::sqrt(3.0) * std::erf(static_cast<double>(z) / std::sqrt(2.0))); })));
}

TEST_CASE_TEMPLATE("fill_normal: the distribution is N(0,1) at each position across keys, position 0 included", T,
                   float, double) {
  // 20,000 keys; each of the first five positions is a sample of its own, so 5 tests of 2e-10. A position without a
  // sign, or always zero, is 100 deviations off in the mean, or in the sum of squares.
  constexpr double failure = 1e-9;
  constexpr std::uint64_t keys = 20000, positions = 5;
  const Key root = Key(test_seed()).child("across");
  const auto accepts = [&](const Fill<T>& fill) {
    std::vector<std::vector<double>> samples(positions);
    for (std::uint64_t s = 0; s < keys; ++s) {
      const std::vector<double> z = draws<T>(fill, root.child(s), positions);
      for (std::size_t i = 0; i < positions; ++i) samples[i].push_back(z[i]);
    }
    return std::all_of(samples.begin(), samples.end(),
                       [&](const auto& sample) { return sample_is_normal(sample, failure / positions); });
  };
  CHECK(accepts(fill_normal<T>));
  const auto mutant_at_0 = [](const std::function<T(T)>& change) -> Fill<T> {
    return [change](const Key& s, std::uint64_t first, std::uint64_t count, T* z) {
      fill_normal(s, first, count, z);
      if (first == 0 && count > 0) z[0] = change(z[0]);
    };
  };
  CHECK_FALSE(accepts(mutant_at_0([](T z) { return std::abs(z); })));
  CHECK_FALSE(accepts(mutant_at_0([](T) { return T(0); })));
}

TEST_CASE_TEMPLATE("fill_normal: keys of other names, indices and seeds are uncorrelated, and mutants are rejected", T,
                   float, double) {
  // Six pairs of 20,000 draws, each an exact N(0,1) statistic: 6 x 1.6e-10. The same key twice is at sqrt(20000) =
  // 141 deviations, a key that shares one word in ten with the other at 14.
  constexpr double failure = 1e-9;
  constexpr std::uint64_t count = 20000;
  const Key root(test_seed());
  const std::vector<std::pair<Key, Key>> pairs = {{root.child(0), root.child(1)},
                                                  {root.child("left"), root.child("right")},
                                                  {root, root.child(0)},
                                                  {root, Key(test_seed() + 1)},
                                                  {root.child(1).child(2), root.child(2).child(1)},
                                                  {root.child("1"), root.child(1)}};
  using Pair = std::function<std::vector<double>(const Key& a, const Key& b)>;
  const auto accepts = [&](const Pair& second) {
    return std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
      return samples_are_uncorrelated(draws<T>(fill_normal<T>, pair.first, count), second(pair.first, pair.second),
                                      failure / 6);
    });
  };
  CHECK(accepts([](const Key&, const Key& b) { return draws<T>(fill_normal<T>, b, count); }));
  CHECK_FALSE(accepts([](const Key& a, const Key&) { return draws<T>(fill_normal<T>, a, count); }));
  CHECK_FALSE(accepts([](const Key& a, const Key& b) {
    const std::vector<double> shared = draws<T>(fill_normal<T>, a, count);
    std::vector<double> z = draws<T>(fill_normal<T>, b, count);
    for (std::size_t i = 0; i < z.size(); i += 10) z[i] = shared[i];
    return z;
  }));
}

TEST_CASE_TEMPLATE("fill_normal: neighbours in a key are uncorrelated, and a mutant is rejected", T, float, double) {
  // z_i against z_{i+lag} over disjoint pairs. Lags 1 to 4 and 2^32 cover the pairs and blocks of Box-Muller and the
  // high word of the counter: 5 exact tests of 2e-10. Mutant: every draw twice, half of the pairs at lag 1 equal.
  constexpr double failure = 1e-9;
  constexpr std::uint64_t count = 20000;
  const Key key = Key(test_seed()).child("neighbours");
  const auto accepts = [&](const Fill<T>& fill) {
    for (const std::uint64_t lag :
         {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{4}, std::uint64_t{1} << 32}) {
      std::vector<double> x, y;
      for (std::uint64_t i = 0; x.size() < count; i += 5) {  // disjoint pairs, at every place in a block
        const std::vector<double> a = draws<T>(fill, key, 1, i), b = draws<T>(fill, key, 1, i + lag);
        x.push_back(a[0]);
        y.push_back(b[0]);
      }
      if (!samples_are_uncorrelated(x, y, failure / 5)) return false;
    }
    return true;
  };
  CHECK(accepts(fill_normal<T>));
  CHECK_FALSE(accepts([](const Key& s, std::uint64_t first, std::uint64_t n, T* z) {
    for (std::uint64_t i = 0; i < n; ++i) fill_normal(s, (first + i) / 2, 1, z + i);
  }));
}

TEST_CASE_TEMPLATE("fill_normal: one draw in 10^4 is beyond 3.89, as the tails of N(0,1) have it", T, float, double) {
  // P(|Z| > 3.890592) = 1e-4: of 2,000,000 draws Binomial(2e6, 1e-4), mean 200; exact tails of 1e-9. Mutant: |z| cut
  // at 3.8, count 0, which has probability exp(-200).
  const Key key = Key(test_seed()).child("tails");
  std::vector<T> z(2000000);
  fill_normal(key, 0, z.size(), z.data());
  const auto beyond = [](const std::vector<T>& sample) {
    return static_cast<double>(
        std::count_if(sample.begin(), sample.end(), [](T x) { return std::abs(x) > T(3.890591886); }));
  };
  CHECK(is_binomial(beyond(z), 2e6, 1e-4, 1e-9));
  for (T& x : z) x = std::clamp(x, T(-3.8), T(3.8));
  CHECK_FALSE(is_binomial(beyond(z), 2e6, 1e-4, 1e-9));
}
