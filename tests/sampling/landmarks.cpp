#include <doctest/doctest.h>
#include <cmath>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/landmarks.hpp>
#include <croquis/sampling/pilot.hpp>

#include "support/attention.hpp"
#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE("LandmarkSampler: every policy gives indices below n, the right number, the same for the same random key") {
  const auto kernel = gaussian_kernel_matrix<double>(random_matrix(40, 3, Key(30)));
  for (const std::string& name : landmark_policy_names()) {
    CAPTURE(name);
    const arma::uvec list = name == "given" ? arma::regspace<arma::uvec>(0, 39) : arma::uvec();
    const LandmarkSampler<double> sampler(kernel, landmark_policy(name), list);
    for (const arma::uword d : {1, 7, 40}) {
      const arma::uvec j = sampler.draw(d, Key(31));
      CHECK(j.n_elem == d);
      CHECK(j.max() < 40);
      CHECK(arma::all(j == sampler.draw(d, Key(31))));
    }
    CHECK(contains(refusal([&] { sampler.draw(41, Key(1)); }), "d = 41"));
    CHECK(contains(refusal([&] { sampler.draw(0, Key(1)); }), "1 <= d"));
  }
}

TEST_CASE(
    "LandmarkSampler: stratified takes floor(d/2) of the first stratum, half of the points by default, and the others "
    "of the second") {
  const auto kernel = gaussian_kernel_matrix<double>(random_matrix(20, 2, Key(32)));
  const LandmarkSampler<double> sampler(kernel, LandmarkPolicy::stratified);
  for (const arma::uword d : {1, 2, 9}) {
    const arma::uvec j = sampler.draw(d, Key(33));
    CHECK(arma::accu(j < 10) == d / 2);
  }
  // Strata of other sizes: three points and seventeen.
  const LandmarkSampler<double> uneven(kernel, LandmarkPolicy::stratified, {}, 3);
  arma::uvec seen;
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    const arma::uvec j = uneven.draw(20, Key(33).child(draw));
    CHECK(arma::all(j.head(10) < 3));
    CHECK(arma::all(j.tail(10) >= 3));
    seen = arma::unique(arma::join_cols(seen, j));
  }
  CHECK(seen.n_elem == 20);  // with probability 1 - 17 (16/17)^200 = 0.9999; the seed is fixed
  // The strata are drawn from one by one: the same 10 of 10 points in both have probability 1e-10.
  const arma::uvec both = sampler.draw(20, Key(33));
  CHECK_FALSE(arma::all(both.head(10) == both.tail(10) - 10));
}

TEST_CASE(
    "LandmarkSampler: leverage draws are in proportion to the exact scores at the tail after d / (4 ln d) values, and "
    "others are not") {
  // Three clusters of 24, 10 and 6 points. d = 40: 40 / (4 ln 40) = 2.7, so the ridge is half of what two eigenvalues
  // leave.
  constexpr arma::uword n = 40, d = 40;
  constexpr std::uint64_t trials = 2000;
  arma::mat x = 0.1 * random_matrix(n, 2, Key(34));
  x.rows(24, 33) += 5;
  x.rows(34, 39) -= 5;
  const auto kernel = gaussian_kernel_matrix<double>(x);
  const Dense m = kernel.dense();
  const arma::vec values = arma::sort(arma::eig_sym(in_double(m)), "descend");
  const auto scores_at = [&](arma::uword k) {
    const double lambda = (arma::trace(kernel.dense()) - arma::accu(values.head(k))) / static_cast<double>(k);
    const Dense filtered = m * inverted(m + static_cast<long double>(lambda) * identity(n));
    std::vector<double> p(n);
    long double sum = 0;
    for (arma::uword i = 0; i < n; ++i) sum += filtered(i, i);
    for (arma::uword i = 0; i < n; ++i) p[i] = static_cast<double>(filtered(i, i) / sum);
    return p;
  };
  const auto counts_of = [&](LandmarkPolicy policy) {
    const LandmarkSampler<double> sampler(kernel, policy);
    std::vector<double> counts(n);
    for (std::uint64_t t = 0; t < trials; ++t) {
      for (const arma::uword j : sampler.draw(d, Key(test_seed()).child("leverage law").child(t))) ++counts[j];
    }
    return counts;
  };
  // In deviations of a count. A cell is within some 7 of its law, or rejected: at 14 it is missed with 1e-11.
  const auto deviations = [&](const std::vector<double>& p, const std::vector<double>& other) {
    double most = 0;
    for (arma::uword i = 0; i < n; ++i) {
      most = std::max(most, std::abs(p[i] - other[i]) * std::sqrt(static_cast<double>(trials * d) / p[i]));
    }
    return most;
  };
  const std::vector<double> counts = counts_of(LandmarkPolicy::leverage), law = scores_at(2);
  CHECK(counts_follow(counts, law, kFailure));
  for (const arma::uword k : {1, 10, 39}) {  // other ridges; 10 is d / 4
    CAPTURE(k);
    const std::vector<double> other = scores_at(k);
    CHECK(deviations(other, law) > 14);
    CHECK_FALSE(counts_follow(counts, other, kFailure));
  }
  CHECK(deviations(std::vector<double>(n, 1.0 / n), law) > 14);
  CHECK_FALSE(counts_follow(counts_of(LandmarkPolicy::uniform), law, kFailure));
}

TEST_CASE("LandmarkSampler: given takes the first d of the list, and refuses a list that does not do") {
  const auto kernel = gaussian_kernel_matrix<double>(random_matrix(10, 2, Key(35)));
  const LandmarkSampler<double> sampler(kernel, LandmarkPolicy::given, {4, 4, 9});
  CHECK(arma::all(sampler.draw(2, Key(1)) == arma::uvec({4, 4})));
  CHECK(contains(refusal([&] { sampler.draw(4, Key(1)); }), "indices = 3"));
  CHECK(contains(refusal([&] { LandmarkSampler<double>(kernel, LandmarkPolicy::given); }), "list"));
  CHECK(contains(refusal([&] { LandmarkSampler<double>(kernel, LandmarkPolicy::uniform, {4}); }), "with given alone"));
  CHECK(contains(refusal([&] { LandmarkSampler<double>(kernel, LandmarkPolicy::given, {10}).draw(1, Key(1)); }),
                 "points to choose from, got largest = 10"));
  CHECK(contains(refusal([&] { landmark_policy("best"); }), "rpcholesky"));
}

TEST_CASE("sample_weighted: draws are proportional to the weights with replacement, zero weights never come") {
  const arma::vec weights = {0.0, 2.0, 1.0, 0.0, 5.0, 0.0};
  const auto follows = [&](const auto& draw) {
    std::vector<double> counts(6);
    for (std::uint64_t t = 0; t < 20000; ++t) ++counts[draw(Key(test_seed()).child("weighted").child(t))(1)];
    return counts_follow(counts, {0, 0.25, 0.125, 0, 0.625, 0}, kFailure);
  };
  CHECK(follows([&](const Key& s) { return sample_weighted(weights, 2, s); }));
  CHECK_FALSE(follows([&](const Key& s) { return sample_weighted(arma::vec(arma::square(weights)), 2, s); }));
  // The second of two different indices is not 4 five times in eight.
  CHECK_FALSE(follows([&](const Key& s) { return sample_weighted_without_replacement(weights, 2, s); }));
  CHECK(arma::all(sample_weighted(arma::vec({1e-320, 1e300}), 50, Key(1)) == 1));
  CHECK(contains(refusal([] { sample_weighted(arma::vec({0, 0}), 1, Key(1)); }), "positive"));
  CHECK(contains(refusal([] { sample_weighted(arma::vec({1, -1}), 1, Key(1)); }), ">= 0"));
  CHECK(contains(refusal([] { sample_weighted(arma::vec({1, arma::datum::nan}), 1, Key(1)); }), "finite"));
}

TEST_CASE_TEMPLATE("pilot_sample: the weights are the column norms of the sampled rows of B times the norms of V", T,
                   float, double) {
  struct Sizes {
    arma::uword n, d_0;
  };
  for (const auto& [n, d_0] : {Sizes{30, 8}, Sizes{30, 40}, Sizes{1100, 300}}) {  // blocks: 512 keys, 256 rows
    CAPTURE_BINDING(n);
    CAPTURE_BINDING(d_0);
    constexpr arma::uword p = 4, p_v = 3;
    const auto q = random_matrix<T>(n, p, Key(36).child("q")), k = random_matrix<T>(n, p, Key(36).child("k")),
               v = random_matrix<T>(n, p_v, Key(36).child("v"));
    const Pilot<T> pilot = pilot_sample(q, k, v, d_0, Key(37), true);
    REQUIRE(pilot.rows.n_elem == d_0);
    const Dense b = softmax_of(logits_of(rows_of(q, pilot.rows), k));
    const double s = largest_row(q) * largest_row(k) / 2;
    const double error = softmax_error<T>(static_cast<double>(n) + 8 * 512, p, s);
    CHECK(distance(pilot.output, b * v) <=
          (error + static_cast<double>(n) * unit<T>()) * static_cast<double>(largest_entry_of(v)));
    double worst = 0;
    for (arma::uword i = 0; i < n; ++i) {
      long double squares = 0, value = 0;
      for (arma::uword a = 0; a < d_0; ++a) squares += b(a, i) * b(a, i);
      for (arma::uword t = 0; t < p_v; ++t)
        value += static_cast<long double>(v(i, t)) * static_cast<long double>(v(i, t));
      const long double expected = std::sqrt(squares * value);
      raise(worst, std::abs(static_cast<long double>(pilot.weights(i)) / expected - 1));
    }
    CHECK(worst <= error + static_cast<double>(d_0 + p_v + 8) * unit<T>());
    const Pilot<T> without = pilot_sample(q, k, v, d_0, Key(37));
    CHECK(without.output.is_empty());
    CHECK(identical(arma::Mat<T>(without.weights), arma::Mat<T>(pilot.weights)));
  }
  // Weights whose squares vanish in float: a key with a share of e^-20 of small values.
  const arma::Mat<T> one(1, 1, arma::fill::ones), keys = arma::Col<T>{T(0), T(-20)},
                                                  small(2, 1, arma::fill::value(T(1e-17)));
  CHECK(static_cast<double>(pilot_sample(one, keys, small, 1, Key(1)).weights(1)) * 1e26 ==
        doctest::Approx(1e9 * std::exp(-20.0)).epsilon(1e-5));
  const arma::Mat<T> some(3, 2, arma::fill::ones);
  CHECK(contains(refusal([&] { pilot_sample(some, some, some, 0, Key(1)); }), "d_0 >= 1"));
}

TEST_CASE("landmark_flops: entries of the kernel, the eigenvalue problem, factors column by column, levels by halves") {
  constexpr double n = 4096, p = 8, d = 32, entry = 2 * p + 1;
  for (const LandmarkPolicy policy : {LandmarkPolicy::uniform, LandmarkPolicy::stratified, LandmarkPolicy::given})
    CHECK(landmark_flops(policy, n, p, d) == 0);
  CHECK(landmark_flops(LandmarkPolicy::leverage, n, p, d) == n * n * entry + 9 * n * n * n);
  double factor = 0, levels = 0;
  for (double column = 0; column < d; ++column) factor += n * entry + 2 * n * column;  // less the columns before it
  CHECK(landmark_flops(LandmarkPolicy::rp_cholesky, n, p, d) == doctest::Approx(factor).epsilon(0.03));
  for (double points = n; points >= 1; points /= 2) {  // the sample of each has d / 2 points: a triangular solve
    levels += points * d / 2 * entry + points * d / 2 * d / 2;
  }
  CHECK(landmark_flops(LandmarkPolicy::recursive_leverage, n, p, d) == doctest::Approx(levels).epsilon(0.01));
}

TEST_CASE("LandmarkSampler: stratified says which stratum is empty") {
  const KernelMatrix<double> kernel =
      gaussian_kernel_matrix(random_matrix<double>(6, 2, Key(test_seed()).child("points")));
  for (const arma::uword first : {0U, 6U, 7U}) {
    const LandmarkSampler<double> sampler(kernel, LandmarkPolicy::stratified, {}, first);
    CHECK(refusal([&] { sampler.draw(2, Key(1)); }) ==
          "landmarks: stratified: at least two points, one at least in each stratum, got points = 6, first stratum = " +
              std::to_string(first));
  }
}
