#include <doctest/doctest.h>
#include <croquis/random/draws.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "support/seed.hpp"
#include "support/statistics.hpp"

using namespace croquis;

namespace {

template <typename T>
using Fill = std::function<void(const Key&, std::uint64_t first, std::uint64_t count, T*)>;

template <typename T>
std::vector<double> draws(const Fill<T>& fill, const Key& key, std::uint64_t count, std::uint64_t first = 0) {
  std::vector<T> z(count);
  fill(key, first, count, z.data());
  return {z.begin(), z.end()};
}

// The overload of T.
template <typename T>
void normals(const Key& key, std::uint64_t first, std::uint64_t count, T* out) {
  fill_normal(key, first, count, out);
}

}  // namespace

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
  CHECK(accepts(normals<T>));

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
  CHECK(accepts(normals<T>));
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
      return samples_are_uncorrelated(draws<T>(normals<T>, pair.first, count), second(pair.first, pair.second),
                                      failure / 6);
    });
  };
  CHECK(accepts([](const Key&, const Key& b) { return draws<T>(normals<T>, b, count); }));
  CHECK_FALSE(accepts([](const Key& a, const Key&) { return draws<T>(normals<T>, a, count); }));
  CHECK_FALSE(accepts([](const Key& a, const Key& b) {
    const std::vector<double> shared = draws<T>(normals<T>, a, count);
    std::vector<double> z = draws<T>(normals<T>, b, count);
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
  CHECK(accepts(normals<T>));
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
