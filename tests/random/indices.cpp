#include <doctest/doctest.h>
#include <croquis/random/indices.hpp>

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr std::uint64_t kTrials = 40000;

using Draw = std::function<arma::uvec(const Key&)>;

// How often `cell_of` says each cell, over independent keys. A cell beyond the last makes the distribution impossible.
bool cells_follow(const Draw& draw, const std::function<std::size_t(const arma::uvec&)>& cell_of,
                  const std::vector<double>& probabilities) {
  const Key root = Key(test_seed()).child("cells");
  std::vector<double> counts(probabilities.size());
  for (std::uint64_t t = 0; t < kTrials; ++t) {
    const std::size_t cell = cell_of(draw(root.child(t)));
    if (cell >= counts.size()) return false;
    ++counts[cell];
  }
  return counts_follow(counts, probabilities, kFailure);
}

std::size_t at(const arma::uvec& indices, arma::uword j) {
  return static_cast<std::size_t>(indices(j));
}

std::vector<double> uniform_on(std::size_t n) {
  return std::vector<double>(n, 1.0 / static_cast<double>(n));
}

bool are_distinct(const arma::uvec& indices) {
  return std::set<arma::uword>(indices.begin(), indices.end()).size() == indices.n_elem;
}

}  // namespace

TEST_CASE(
    "sample_with_replacement: every position is uniform, index 0 and the last included, and mutants are rejected") {
  // 7 cells of mean 5,714, deviation 70. Never index 0: 82 deviations off; index 0 for 6 half of the time: 41.
  const auto accepts = [](const Draw& draw) {
    return cells_follow(
               draw, [](const arma::uvec& i) { return at(i, 0); }, uniform_on(7)) &&
           cells_follow(
               draw, [](const arma::uvec& i) { return at(i, 2); }, uniform_on(7));
  };
  CHECK(accepts([](const Key& s) { return sample_with_replacement(7, 3, s); }));
  CHECK_FALSE(accepts([](const Key& s) { return arma::uvec(sample_with_replacement(6, 3, s) + 1); }));
  CHECK_FALSE(accepts([](const Key& s) {
    arma::uvec i = sample_with_replacement(7, 3, s);
    if (i(2) == 6 && i(0) < 3) i(2) = 0;
    return i;
  }));
}

TEST_CASE("sample_with_replacement: positions are independent, and sampling without replacement is rejected") {
  // Pairs of positions 0 and 1, and 0 and 4: 25 cells of mean 1,600. Without replacement the 5 equal pairs never come.
  const auto accepts = [](const Draw& draw) {
    return cells_follow(
               draw, [](const arma::uvec& i) { return 5 * at(i, 0) + at(i, 1); }, uniform_on(25)) &&
           cells_follow(
               draw, [](const arma::uvec& i) { return 5 * at(i, 0) + at(i, 4); }, uniform_on(25));
  };
  CHECK(accepts([](const Key& s) { return sample_with_replacement(5, 5, s); }));
  CHECK_FALSE(accepts([](const Key& s) { return sample_without_replacement(5, 5, s); }));
  CHECK_FALSE(
      accepts([](const Key& s) { return arma::uvec(5, arma::fill::value(sample_with_replacement(5, 1, s)(0))); }));
}

TEST_CASE(
    "sample_with_replacement: a longer sample begins with the shorter, and more indices than a word has are reached") {
  const Key key = Key(test_seed()).child("prefix");
  const arma::uvec all = sample_with_replacement(1000, 300, key);
  for (const arma::uword d : {1U, 2U, 299U}) {
    const arma::uvec shorter = sample_with_replacement(1000, d, key);
    CHECK(std::equal(shorter.begin(), shorter.end(), all.begin()));
  }
  CHECK(all.max() < 1000);
  CHECK(sample_with_replacement(1000, 0, key).is_empty());
  CHECK(arma::all(sample_with_replacement(1, 20, key) == 0));
  // 40 draws of 2^40 indices are all below 2^32 with probability 2^-320.
  const arma::uword huge = arma::uword{1} << 40;
  CHECK(sample_with_replacement(huge, 40, key).max() > (huge >> 8));
  CHECK(sample_with_replacement(huge, 40, key).max() < huge);
  CHECK(contains(refusal([&] { sample_with_replacement(0, 3, key); }), "n >= 1, got n = 0"));
}

TEST_CASE("sample_without_replacement: all orders are equally likely, and mutants are rejected") {
  // 24 orders of mean 1,667, deviation 40. A Fisher-Yates that always swaps over all of 0 ... n-1 gives orders of
  // probability 8/256 to 15/256, up to 417 and 676 off. An order with index 0 kept first is never another one.
  const auto order_of = [](const arma::uvec& i) {
    std::vector<arma::uword> order(i.begin(), i.end()), permutation = {0, 1, 2, 3};
    std::size_t cell = 0;
    while (permutation != order && std::next_permutation(permutation.begin(), permutation.end())) ++cell;
    return permutation == order ? cell : 24;
  };
  const auto accepts = [&](const Draw& draw) { return cells_follow(draw, order_of, uniform_on(24)); };
  CHECK(accepts([](const Key& s) { return sample_without_replacement(4, 4, s); }));
  CHECK_FALSE(accepts([](const Key& s) {
    arma::uvec order = {0, 1, 2, 3};
    for (arma::uword j = 0; j < 4; ++j) std::swap(order(j), order(sample_with_replacement(4, 1, s.child(j))(0)));
    return order;
  }));
  CHECK_FALSE(accepts([](const Key& s) {
    const arma::uvec rest = sample_without_replacement(3, 3, s) + 1;
    return arma::uvec{0, rest(0), rest(1), rest(2)};
  }));
  CHECK_FALSE(accepts([](const Key& s) { return sample_with_replacement(4, 4, s); }));
}

TEST_CASE("sample_without_replacement: indices are distinct and each is included with probability d / n") {
  constexpr arma::uword n = 9, d = 4;
  const auto accepts = [](const Draw& draw) {
    const Key root = Key(test_seed()).child("inclusion");
    std::vector<double> included(n);
    for (std::uint64_t t = 0; t < kTrials; ++t) {
      const arma::uvec indices = draw(root.child(t));
      if (!are_distinct(indices) || indices.n_elem != d) return false;
      for (const arma::uword i : indices) ++included[i];
    }
    // An index is included or not in each trial: Binomial(trials, d / n), nine tests. The last index never: 134 off.
    return std::all_of(included.begin(), included.end(), [](double count) {
      return is_binomial(count, kTrials, static_cast<double>(d) / n, kFailure / n);
    });
  };
  CHECK(accepts([](const Key& s) { return sample_without_replacement(n, d, s); }));
  CHECK_FALSE(accepts([](const Key& s) { return sample_without_replacement(n - 1, d, s); }));
  CHECK_FALSE(accepts([](const Key& s) { return arma::uvec(sample_without_replacement(n - 1, d, s) + 1); }));
  CHECK_FALSE(accepts([](const Key& s) { return sample_with_replacement(n, d, s); }));
}

TEST_CASE("sample_without_replacement: a longer sample begins with the shorter, d = n takes all, d > n is refused") {
  const Key key = Key(test_seed()).child("prefix");
  const arma::uvec all = sample_without_replacement(50, 50, key);
  CHECK(are_distinct(all));
  CHECK(all.max() == 49);
  for (const arma::uword d : {1U, 7U, 49U}) {
    const arma::uvec shorter = sample_without_replacement(50, d, key);
    CHECK(std::equal(shorter.begin(), shorter.end(), all.begin()));
  }
  CHECK(sample_without_replacement(50, 0, key).is_empty());
  CHECK(sample_without_replacement(0, 0, key).is_empty());
  CHECK(sample_without_replacement(1, 1, key)(0) == 0);
  CHECK(refusal([&] { sample_without_replacement(4, 5, key); }) ==
        "sample_without_replacement: d <= n, got d = 5, n = 4");
}

TEST_CASE_TEMPLATE("sample_weighted_without_replacement: pairs follow successive sampling, and mutants are rejected", T,
                   float, double) {
  // Weights 1, 2, 5: P(i, j) = w_i / 8 * w_j / (8 - w_i), the six pairs in the order 01 02 10 12 20 21.
  // Cells of mean 1,400 to 16,700. Weights ignored put 6,667 everywhere; squared weights put 4/30 x 1/26 on 10.
  const arma::Col<T> weights = {T(1), T(2), T(5)};
  const std::vector<double> probabilities = {1. / 8 * 2 / 7, 1. / 8 * 5 / 7, 2. / 8 * 1 / 6,
                                             2. / 8 * 5 / 6, 5. / 8 * 1 / 3, 5. / 8 * 2 / 3};
  const auto pair_of = [](const arma::uvec& i) {
    if (i(0) == i(1)) return std::size_t{6};
    return 2 * at(i, 0) + (at(i, 1) > at(i, 0) ? at(i, 1) - 1 : at(i, 1));
  };
  const auto accepts = [&](const Draw& draw) { return cells_follow(draw, pair_of, probabilities); };
  CHECK(accepts([&](const Key& s) { return sample_weighted_without_replacement(weights, 2, s); }));
  CHECK_FALSE(accepts([](const Key& s) { return sample_without_replacement(3, 2, s); }));  // weights never used
  CHECK_FALSE(accepts(
      [&](const Key& s) { return sample_weighted_without_replacement(arma::Col<T>(arma::square(weights)), 2, s); }));
  CHECK_FALSE(accepts([&](const Key& s) {  // the same pairs, sorted
    return arma::uvec(arma::sort(sample_weighted_without_replacement(weights, 2, s)));
  }));
  CHECK_FALSE(accepts([&](const Key& s) {  // the second without its weight
    const arma::uword i = sample_weighted_without_replacement(weights, 1, s)(0);
    return arma::uvec{i, (i + 1 + sample_with_replacement(2, 1, s.child("second"))(0)) % 3};
  }));
}

TEST_CASE_TEMPLATE("sample_weighted_without_replacement: the first index has probability w_i over the sum", T, float,
                   double) {
  const arma::Col<T> weights = {T(3), T(0), T(1), T(4), T(1), T(5), T(9), T(2)};
  std::vector<double> probabilities;
  for (const T w : weights) probabilities.push_back(static_cast<double>(w) / 25);
  const auto first = [](const arma::uvec& i) { return at(i, 0); };
  CHECK(cells_follow([&](const Key& s) { return sample_weighted_without_replacement(weights, 3, s); }, first,
                     probabilities));
  CHECK_FALSE(cells_follow(
      [&](const Key& s) { return sample_weighted_without_replacement(arma::Col<T>(arma::sqrt(weights)), 3, s); }, first,
      probabilities));
}

TEST_CASE_TEMPLATE("sample_weighted_without_replacement: weight 0 comes only after all others, and then uniformly", T,
                   float, double) {
  const arma::Col<T> weights = {T(0), T(1e-30), T(0), T(1e30), T(0)};
  const auto draw = [&](const Key& s) { return sample_weighted_without_replacement(weights, 5, s); };
  const Key root = Key(test_seed()).child("zero");
  for (std::uint64_t t = 0; t < 1000; ++t) {
    const arma::uvec order = draw(root.child(t));
    REQUIRE(order(0) == 3);  // by chance not: probability 1e-60
    REQUIRE(order(1) == 1);
    REQUIRE(are_distinct(order));
  }
  const auto third = [](const arma::uvec& i) { return at(i, 2) / 2; };
  CHECK(cells_follow(draw, third, uniform_on(3)));
  const arma::Col<T> none(4, arma::fill::zeros);
  CHECK(cells_follow([&](const Key& s) { return sample_weighted_without_replacement(none, 2, s); },
                     [](const arma::uvec& i) { return at(i, 0); }, uniform_on(4)));
}

TEST_CASE_TEMPLATE(
    "sample_weighted_without_replacement: weights from the smallest to the largest number keep their order", T, float,
    double) {
  const bool single = std::is_same_v<T, float>;
  const T tiny = single ? T(1e-38) : T(1e-300), huge = single ? T(1e38) : T(1e300);
  const Key root = Key(test_seed()).child("extreme");
  for (std::uint64_t t = 0; t < 1000; ++t) {
    // Another order has probability 1e-38 at most.
    const arma::uvec order = sample_weighted_without_replacement(arma::Col<T>{T(1), tiny, huge}, 3, root.child(t));
    REQUIRE(arma::all(order == arma::uvec{2, 0, 1}));
  }
  // Scale is nothing: all tiny or all huge in the ratio 1 to 3.
  for (const T scale : {tiny, huge, std::numeric_limits<T>::denorm_min()}) {
    const arma::Col<T> weights = {scale, 3 * scale};
    CHECK(cells_follow([&](const Key& s) { return sample_weighted_without_replacement(weights, 1, s); },
                       [](const arma::uvec& i) { return at(i, 0); }, {0.25, 0.75}));
  }
}

TEST_CASE(
    "sample_weighted_without_replacement: a longer sample begins with the shorter, and a clock belongs to its index") {
  const Key key = Key(test_seed()).child("prefix");
  arma::vec weights = arma::linspace(1, 3, 40);
  const arma::uvec all = sample_weighted_without_replacement(weights, 40, key);
  const arma::uvec shorter = sample_weighted_without_replacement(weights, 11, key);
  CHECK(std::equal(shorter.begin(), shorter.end(), all.begin()));
  CHECK(are_distinct(all));
  // Without the winner's weight the others keep their order.
  weights(all(0)) = 0;
  const arma::uvec without = sample_weighted_without_replacement(weights, 40, key);
  CHECK(std::equal(all.begin() + 1, all.end(), without.begin()));
}

TEST_CASE(
    "sample_weighted_without_replacement: clocks of indices far apart are not the same, and a mutant is rejected") {
  // The first of 1,100 equal weights is among the first 512 with probability 512/1100: 400 keys. Where index i + 512
  // has the clock of index i, the smaller of the two comes first and it always is.
  constexpr arma::uword n = 1100, part = 512;
  const Key root = Key(test_seed()).child("far apart");
  const arma::vec weights(n, arma::fill::ones);
  double among = 0;
  for (std::uint64_t t = 0; t < 400; ++t) {
    among += sample_weighted_without_replacement(weights, 1, root.child(t))(0) < part ? 1 : 0;
  }
  CHECK(is_binomial(among, 400, static_cast<double>(part) / n, kFailure));
  CHECK_FALSE(is_binomial(400, 400, static_cast<double>(part) / n, kFailure));
}

TEST_CASE("sample_weighted: every position has a draw of its own, with probability w_i over the sum") {
  // 4000 positions of one key; weights 1 to 3.
  const arma::uvec drawn = sample_weighted(arma::vec{1, 3}, 4000, Key(test_seed()).child("weighted"));
  const auto second = static_cast<double>(arma::accu(drawn));
  CHECK(is_binomial(second, 4000, 0.75, kFailure));
  CHECK_FALSE(is_binomial(4000, 4000, 0.75, kFailure));
  // Neighbours are independent: both the second with probability 9/16, of 2000 pairs.
  double both = 0;
  for (arma::uword j = 0; j < 4000; j += 2) both += drawn(j) == 1 && drawn(j + 1) == 1 ? 1 : 0;
  CHECK(is_binomial(both, 2000, 0.5625, kFailure));
  // Weights whose sum overflows: of 100 draws none is of the last with probability (2/3)^100 = 2e-18.
  CHECK(arma::any(sample_weighted(arma::vec(3, arma::fill::value(1e308)), 100, Key(test_seed())) == 2));
  for (const arma::vec& none : {arma::vec{1, -0.5}, arma::vec{0, 0}, arma::vec{1, arma::datum::inf}, arma::vec()}) {
    CHECK(
        contains(refusal([&] { sample_weighted(none, 1, Key(1)); }), "weights finite and >= 0, one of them positive"));
  }
}

TEST_CASE("sample_weighted_without_replacement: weights that are none and d > n are refused") {
  const Key key(test_seed());
  const auto with = [&](double w, arma::uword d) {
    return refusal([&, w, d] { sample_weighted_without_replacement(arma::vec{1.0, w}, d, key); });
  };
  CHECK(contains(with(-0.5, 1), "weights finite and >= 0, got index = 1, weight = -0.5"));
  CHECK(contains(with(std::nan(""), 1), "index = 1, weight = nan"));
  CHECK(contains(with(arma::datum::inf, 1), "index = 1, weight = inf"));
  CHECK(contains(with(1.0, 3), "d <= number of weights, got d = 3, weights = 2"));
  CHECK(sample_weighted_without_replacement(arma::vec(), 0, key).is_empty());
}

TEST_CASE("samples of more indices than memory holds are refused before they are made") {
  const arma::uword huge = arma::uword{1} << 62;
  const arma::vec weights(3, arma::fill::ones);
  CHECK(contains(refusal([&] { sample_with_replacement(3, huge, Key(1)); }), "sample_with_replacement: needs"));
  CHECK(
      contains(refusal([&] { sample_without_replacement(huge, huge, Key(1)); }), "sample_without_replacement: needs"));
  CHECK(contains(refusal([&] { sample_weighted(weights, huge, Key(1)); }), "sample_weighted: needs"));
}
