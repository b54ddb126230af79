#include <doctest/doctest.h>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/importance_sampling.hpp>

#include <cmath>
#include <limits>

#include "support/capture.hpp"
#include "support/seed.hpp"
#include "support/sketch_distributions.hpp"
#include "support/sketches.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Sampler importance(const arma::vec& weights, arma::uword d) {
  return sampler_of([=](const Key& key) { return ImportanceSampling(weights, d, key); });
}

// Indices as the sketch draws them, entries changed to entry(p_i).
template <typename Entry>
Sampler with_entries(const arma::vec& weights, arma::uword d, Entry entry) {
  return [=](const Key& key) {
    const arma::vec p = weights / arma::accu(weights);
    const ImportanceSampling sketch(weights, d, key);
    arma::mat s(weights.n_elem, d, arma::fill::zeros);
    for (arma::uword j = 0; j < d; ++j) s(sketch.indices()(j), j) = entry(p(sketch.indices()(j)));
    return s;
  };
}

// Entries 1 / sqrt(d p_i) at indices drawn in another way.
template <typename Draw>
Sampler with_indices(const arma::vec& weights, arma::uword d, Draw draw) {
  return [=](const Key& key) {
    const arma::vec p = weights / arma::accu(weights);
    const arma::uvec indices = draw(key);
    arma::mat s(weights.n_elem, d, arma::fill::zeros);
    for (arma::uword j = 0; j < d; ++j) s(indices(j), j) = 1 / std::sqrt(static_cast<double>(d) * p(indices(j)));
    return s;
  };
}

// Two columns, every pair of indices with its probability.
MatrixDistribution law_of_two_columns(const arma::vec& p) {
  MatrixDistribution distribution;
  for (arma::uword a = 0; a < p.n_elem; ++a) {
    for (arma::uword b = 0; b < p.n_elem; ++b) {
      if (p(a) * p(b) == 0) continue;
      arma::mat s(p.n_elem, 2, arma::fill::zeros);
      s(a, 0) = 1 / std::sqrt(2 * p(a));
      s(b, 1) = 1 / std::sqrt(2 * p(b));
      distribution.add(s, p(a) * p(b));
    }
  }
  return distribution;
}

}  // namespace

TEST_CASE_TEMPLATE("ImportanceSampling: left, right and expand are products with dense(), duplicates included", T,
                   float, double) {
  const Key key = Key(test_seed()).child("products");
  const std::pair<arma::uword, arma::uword> sizes[] = {{1, 1}, {1, 4}, {3, 8}, {5, 5}, {300, 20}};
  for (const auto& [n, d] : sizes) {
    CAPTURE_BINDING(n);
    const arma::vec weights = arma::abs(random_matrix(n, 1, key.child("weights")).col(0)) + 0.1;
    check_products<T>(ImportanceSampling(weights, d, key.child(n)), key.child("operands"));
  }
}

TEST_CASE("ImportanceSampling: E[S S^T] = I in every entry, and mutants are rejected") {
  // A diagonal entry is Binomial(d, p_i) / (d p_i): variance (1/p_i - 1)/d, between 0 and 1/p_i. Off the diagonal zero
  // in every draw. p_i = (i + 1)/28.
  const arma::vec weights = arma::regspace(1, 7);
  constexpr arma::uword n = 7, d = 6;
  constexpr std::uint64_t trials = 20000;
  SecondMoment moment(n, 0, 0, 0, 0);
  for (arma::uword i = 0; i < n; ++i) {
    const double inverse = 28.0 / static_cast<double>(i + 1);
    moment.variance(i, i) = (inverse - 1) / d;
    moment.bound(i, i) = inverse - 1;
  }
  CHECK(detectable(27.0 / d, 27, 28, trials) < 0.12);  // for the rarest index
  CHECK(detectable(3.0 / d, 3, 28, trials) < 0.037);   // for the last
  const auto accepts = [&](const Sampler& sampler) { return second_moment_is_identity(sampler, moment, trials); };
  const Sampler sampler = importance(weights, d);
  CHECK(accepts(sampler));
  CHECK(accepts(importance(1e300 * weights, d)));  // weights are normalised
  const auto entries = [&](auto entry) { return accepts(with_entries(weights, d, entry)); };
  CHECK(entries([](double p) { return 1 / std::sqrt(6 * p); }));        // the distribution
  CHECK_FALSE(entries([](double) { return 1 / std::sqrt(6.0); }));      // no weights
  CHECK_FALSE(entries([](double) { return std::sqrt(7 / 6.0); }));      // those of uniform sampling
  CHECK_FALSE(entries([](double p) { return 1 / std::sqrt(p); }));      // no 1/sqrt(d)
  CHECK_FALSE(entries([](double p) { return 1 / (6 * p); }));           // no root
  CHECK_FALSE(entries([](double p) { return std::sqrt(p / 6) * 7; }));  // the inverse
  CHECK_FALSE(accepts(with_indices(weights, d, [&](const Key& key) {    // weights not used in the draw
    return sample_with_replacement(n, d, key);
  })));
  CHECK_FALSE(accepts(with_indices(weights, d, [&](const Key& key) {  // without replacement
    return sample_weighted_without_replacement(weights, d, key);
  })));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& s) {  // index 0 is never drawn
    s.row(1) += s.row(0);
    s.row(0).zeros();
  })));
}

TEST_CASE(
    "ImportanceSampling: the joint distribution of two columns, a weight of zero included, and mutants are rejected") {
  // p = (1, 0, 3, 2)/6: nine pairs, the rarest 556 times, deviation 23; half of the distributions with its probability
  // off by 27 % are rejected (6.5 deviations).
  const arma::vec weights = {1, 0, 3, 2};
  const MatrixDistribution distribution = law_of_two_columns(weights / 6);
  const auto accepts = [&](const Sampler& sampler) { return distribution.is_distribution_of(sampler, 20000); };
  const Sampler sampler = importance(weights, 2);
  CHECK(accepts(sampler));
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(2.0))));
  CHECK_FALSE(accepts(with_indices(weights, 2, [](const Key& key) {  // without replacement
    return sample_weighted_without_replacement(arma::vec{1, 0, 3, 2}, 2, key);
  })));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& s) { s.col(1) = s.col(0); })));  // one draw for all columns
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& s) { s.swap_rows(2, 3); })));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& s) { s.swap_rows(0, 1); })));  // the weight of zero is drawn
  CHECK_FALSE(accepts(seed_that_does_not_reach_the_draw(sampler)));
}

TEST_CASE("ImportanceSampling: every index is drawn with its probability, and mutants are rejected") {
  // 100 indices, p_i = (i + 1)/5050; 50,000 draws, 10 of index 0 and 990 of index 99, deviation 31 (off by 22 % is seen
  // half of the time, 7 deviations).
  const arma::vec weights = arma::regspace(1, 100);
  const auto counts_of = [&](const arma::uvec& indices) {
    std::vector<double> counts(100);
    for (const arma::uword i : indices) ++counts[i];
    return counts;
  };
  const std::vector<double> p = arma::conv_to<std::vector<double>>::from(weights / 5050);
  const Key key = Key(test_seed()).child("counts");
  const arma::uvec indices = ImportanceSampling(weights, 50000, key).indices();
  CHECK(counts_follow(counts_of(indices), p, kFailure));
  CHECK_FALSE(counts_follow(counts_of(sample_with_replacement(100, 50000, key)), p, kFailure));
  const arma::uvec off_by_one = arma::clamp(indices, 1, 99) - 1;
  CHECK_FALSE(counts_follow(counts_of(off_by_one), p, kFailure));
}

TEST_CASE("ImportanceSampling: an index of weight zero is never drawn, wherever it is and however small the others") {
  const Key key = Key(test_seed()).child("zero");
  const double tiny = std::numeric_limits<double>::denorm_min(), huge = std::numeric_limits<double>::max();
  for (const arma::vec& weights : {arma::vec{0, 0, 5, 0}, arma::vec{0, tiny, tiny, 0}, arma::vec{huge, 0, huge, 0},
                                   arma::vec{0, 1, 1e-17, 0}, arma::vec{0, 0, 0, 3}}) {
    const ImportanceSampling sketch(weights, 1000, key);
    for (const arma::uword i : sketch.indices()) REQUIRE(weights(i) > 0);
    CHECK(sketch.entries().is_finite());
  }
}

TEST_CASE("ImportanceSampling: a column is 1/sqrt(d p_i) at its index") {
  const ImportanceSampling sketch(arma::vec{1, 3}, 5, Key(test_seed()));
  const arma::mat s = sketch.dense<double>();
  for (arma::uword j = 0; j < 5; ++j) {
    const arma::uword i = sketch.indices()(j);
    CHECK(arma::accu(s.col(j) != 0) == 1);
    // sqrt(4/5) and sqrt(4/15): quotients and a root.
    CHECK(std::abs(s(i, j) - (i == 0 ? 0.89442719099991588 : 0.51639777949432225)) <= 4 * unit<double>());
    CHECK(sketch.entries()(j) == s(i, j));
  }
}

TEST_CASE("ImportanceSampling: keys of other names are independent, and mutants are rejected") {
  // Equal pairs: (1 + 9 + 4)^2 / 36^2 = 0.15 of 20,000; with one column shared 0.39.
  const arma::vec weights = {1, 0, 3, 2};
  const MatrixDistribution distribution = law_of_two_columns(weights / 6);
  const Sampler sampler = importance(weights, 2);
  CHECK(distribution.holds_across_keys(sampler, 20000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_draw(sampler), 20000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_first_column(sampler), 20000));
}

TEST_CASE_TEMPLATE("ImportanceSampling: the same bits for any number of threads", T, float, double) {
  const arma::vec weights = arma::regspace(1, 50);
  check_thread_counts<T>(ImportanceSampling(weights, 20000, Key(test_seed()).child("threads")), Key(test_seed()));
}

TEST_CASE("ImportanceSampling: wrong sizes and weights are refused") {
  const auto message = [](const arma::vec& weights, arma::uword d) {
    return refusal([&] { ImportanceSampling(weights, d, Key(1)); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  CHECK(message({}, 2) == "ImportanceSampling: 1 <= number of weights < 2^32, d >= 1, got weights = 0, d = 2");
  CHECK(contains(message({1, 2}, 0), "got weights = 2, d = 0"));
  CHECK(message({1, -2}, 3) == "ImportanceSampling: weights finite and >= 0, got index = 1, weight = -2");
  CHECK(contains(message({nan, 2}, 3), "got index = 0, weight = nan"));
  CHECK(contains(message({1, infinity}, 3), "got index = 1, weight = inf"));
  CHECK(contains(message({1, 2}, arma::uword{1} << 62), "ImportanceSampling: needs"));
  CHECK(message({0, 0}, 3) == "ImportanceSampling: a positive weight, got largest weight = 0");
  check_refusals(ImportanceSampling({1, 2, 3, 4, 5}, 3, Key(1)));
}
