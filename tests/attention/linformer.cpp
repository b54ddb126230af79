#include <croquis/attention/linformer.hpp>

#include <boost/math/distributions/normal.hpp>

#include "support/approximations.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;
using Distribution = LinformerOptions::Distribution;

namespace {

constexpr Distribution kDistributions[] = {Distribution::normal, Distribution::code, Distribution::uniform,
                                           Distribution::segments};
constexpr arma::uword kLinformerTokens = 200, kRows = 50;

// Entries of E as N(0,1) when they follow the distribution: scaled, and for the uniform distribution through the normal
// quantile.
std::vector<double> standardised(const arma::mat& e, Distribution distribution) {
  const boost::math::normal normal;
  std::vector<double> sample;
  for (const double x : e) {
    if (distribution == Distribution::normal) sample.push_back(x * std::sqrt(static_cast<double>(kRows)));
    if (distribution == Distribution::code) sample.push_back(x / 0.02);
    if (distribution == Distribution::uniform) {
      const double u = (x * std::sqrt(static_cast<double>(kRows)) + 1) / 2;
      sample.push_back(u > 0 && u < 1 ? boost::math::quantile(normal, u) : 100);
    }
  }
  return sample;
}

bool follows(const arma::mat& e, Distribution distribution) {
  return sample_is_normal(standardised(e, distribution), 1e-9);
}

// E as the header has it for segments, from the lengths of the segments.
Dense segment_matrix(arma::uword n, arma::uword d) {
  Dense e(d, n);
  arma::uword token = 0;
  for (arma::uword s = 0; s < d; ++s) {
    const arma::uword length = n / d + (s < n % d ? 1 : 0);
    for (arma::uword i = 0; i < length; ++i) e(s, token++) = 1 / static_cast<long double>(length);
  }
  return e;
}

}  // namespace

TEST_CASE_TEMPLATE("linformer: E follows its distribution, and mutants are rejected", T, float, double) {
  const Key draw_key = Key(test_seed()).child("law");
  for (const Distribution distribution : {Distribution::normal, Distribution::code, Distribution::uniform}) {
    const arma::mat e = arma::conv_to<arma::mat>::from(
        linformer_projection<T>(distribution, kLinformerTokens, kRows, draw_key).dense());
    CHECK(arma::size(e) == arma::SizeMat(kRows, kLinformerTokens));
    CHECK(follows(e, distribution));
    // 10,000 entries: the sum of squares is off by 15 deviations for a scale off by 10 %.
    CHECK_FALSE(follows(1.1 * e, distribution));
    CHECK_FALSE(
        follows(e / std::sqrt(static_cast<double>(kRows)), distribution));  // variance 1/d^2, as one code has it
    CHECK_FALSE(follows(arma::abs(e), distribution));
    for (const Distribution other : {Distribution::normal, Distribution::code, Distribution::uniform}) {
      if (other != distribution) CHECK_FALSE(follows(e, other));
    }
  }
}

TEST_CASE_TEMPLATE("linformer: E and F are independent, or one matrix when shared; segments are means", T, float,
                   double) {
  const Key draw_key = Key(test_seed()).child("pair");
  const auto dense = [&](Distribution distribution, const char* name) {
    return arma::conv_to<arma::mat>::from(
        linformer_projection<T>(distribution, kLinformerTokens, kRows, draw_key.child(name)).dense());
  };
  for (const Distribution distribution : {Distribution::normal, Distribution::code, Distribution::uniform}) {
    const std::vector<double> e = standardised(dense(distribution, "E"), distribution),
                              f = standardised(dense(distribution, "F"), distribution);
    CHECK(samples_are_uncorrelated(f, e, 1e-9));
    CHECK_FALSE(samples_are_uncorrelated(e, e, 1e-9));
  }
  for (const arma::uword d : {1U, 3U, 7U, 23U}) {
    const LinearOperator<T> e = linformer_projection<T>(Distribution::segments, 23, d, draw_key);
    CHECK(distance(e.dense(), segment_matrix(23, d)) <= 2 * 23 * unit<T>());
    CHECK(distance(transposed(Dense(e.apply_transposed(arma::Mat<T>(d, d, arma::fill::eye)))), segment_matrix(23, d)) <=
          unit<T>());
  }
}

TEST_CASE_TEMPLATE("linformer: B~ is softmax(Q (E K)^T / sqrt(p)) F in every entry", T, float, double) {
  const Key draw_key = Key(test_seed()).child("formula");
  for (const Distribution distribution : kDistributions) {
    for (const bool shared : {false, true}) {
      for (const auto& [n, d] : std::vector<std::pair<arma::uword, arma::uword>>{{1, 1}, {31, 4}, {31, 31}}) {
        const Problem<T> problem =
            n > 5 ? awkward_problem<T>(n, 5, 3, 2, draw_key) : random_problem<T>(n, 5, 3, 2, draw_key);
        const Key draw = draw_key.child(d);
        const Dense e = linformer_projection<T>(distribution, n, d, draw.child("E")).dense();
        const Dense f = linformer_projection<T>(distribution, n, d, draw.child(shared ? "E" : "F")).dense();
        const Dense keys = e * problem.K();
        const Dense expected = softmax_of(logits_of(problem.Q(), keys)) * f;
        // A logit: E K off by n u |E||K|, then as any softmax of logits of that size.
        double largest = 0;
        for (arma::uword s = 0; s < d; ++s) {
          double sum = 0;
          for (arma::uword j = 0; j < n; ++j) {
            sum += std::fabs(static_cast<double>(e(s, j))) *
                   arma::norm(arma::conv_to<arma::rowvec>::from(problem.K().row(j)));
          }
          largest = std::max(largest, sum);
        }
        const double s = largest_row(problem.Q()) * largest / std::sqrt(5.0);
        const double relative = softmax_error<T>(static_cast<double>(d), 5 + static_cast<double>(n), s) +
                                static_cast<double>(d + 4) * unit<T>();
        const Approximation<T> approximation =
            linformer(problem, d, draw, {.distribution = distribution, .shared = shared});
        check_scores(approximation, problem, expected, relative * static_cast<double>(largest_entry_of(f)));
      }
    }
  }
}

TEST_CASE_TEMPLATE("linformer: with segments rows sum to 1 and d = n is exact", T, float, double) {
  const Problem<T> problem = random_problem<T>(29, 6, 4, 3, Key(test_seed()).child("segments"));
  const LinformerOptions segments = {.distribution = Distribution::segments};
  for (const arma::uword d : {1U, 5U, 29U}) {
    CHECK(row_sum_gap(linformer(problem, d, Key(1), segments)) <= 2 * 29 * unit<T>());
  }
  const Dense b = scores_of(problem.Q(), problem.K(), Target::softmax);
  CHECK(distance(linformer(problem, 29, Key(1), segments).scores->dense(), b) <= entry_error(problem));
}

TEST_CASE("linformer: preset code is N(0, 0.02^2) with F = E, segments are not random, norms of 100 are safe") {
  const Problem<double> problem = random_problem<double>(40, 6, 4, 2, Key(test_seed()).child("preset"), 1);
  const auto run = [&](std::map<std::string, std::string> options) {
    return method_on(problem, "linformer", std::move(options)).approximate(9, Key(3)).output;
  };
  CHECK(identical(run({}), linformer(problem, 9, Key(3)).output));
  CHECK(identical(run({{"preset", "code"}}), linformer(problem, 9, Key(3), LinformerOptions::code()).output));
  CHECK(identical(run({{"distribution", "code"}, {"shared", "yes"}}), run({{"preset", "code"}})));
  CHECK(identical(run({{"preset", "code"}, {"distribution", "uniform"}}),
                  linformer(problem, 9, Key(3), {.distribution = Distribution::uniform, .shared = true}).output));
  const Method<double>& method = find_method<double>("linformer");
  CHECK(method.random({}));
  CHECK_FALSE(method.random(OptionValues(std::map<std::string, std::string>{{"distribution", "segments"}})));
  const Problem<float> huge = random_problem<float>(40, 6, 4, 100, Key(1));
  for (const Distribution distribution : kDistributions)
    CHECK(linformer(huge, 9, Key(3), {.distribution = distribution}).output.is_finite());
}

TEST_CASE("linformer: d = 0 and d > n are refused") {
  const Problem<double> problem = random_problem<double>(5, 2, 2, 1, Key(1));
  for (const Distribution distribution : kDistributions) {
    CHECK(refusal([&] { linformer(problem, 6, Key(1), {.distribution = distribution}); }) ==
          "linformer: 1 <= d <= n_k, got d = 6, n_k = 5");
  }
  CHECK(contains(refusal([&] { linformer(problem, 0, Key(1)); }), "got d = 0, n_k = 5"));
}
