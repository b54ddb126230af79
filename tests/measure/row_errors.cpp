#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/hyperattention.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/measure/method_errors.hpp>
#include <croquis/measure/row_errors.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// The value below which a share q of the sorted values lies, linear between neighbours.
double plain_quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1), below = std::floor(place);
  const auto i = static_cast<std::size_t>(below);
  return i + 1 < values.size() ? values[i] + (place - below) * (values[i + 1] - values[i]) : values.back();
}

}  // namespace

TEST_CASE("row_errors: relative errors and cosines of single rows by hand; a zero row is left out") {
  const arma::mat exact = {{3, 4}, {0, 0}, {1, 0}, {0, 2}}, near = {{3, 4}, {5, 5}, {0, 1}, {0, 0}};
  const RowErrors errors = row_errors(exact, near);  // relative errors 0, sqrt(2), 1; cosines 1, 0, 0
  CHECK(errors.relative_q50 == doctest::Approx(1));
  CHECK(errors.relative_q90 == doctest::Approx(plain_quantile({0, std::sqrt(2.0), 1}, 0.9)));
  CHECK(errors.relative_max == doctest::Approx(std::sqrt(2.0)));
  CHECK(errors.cosine_mean == doctest::Approx(1.0 / 3));
  CHECK(errors.cosine_q10 == doctest::Approx(0));
  CHECK(std::isnan(row_errors(arma::mat(3, 2, arma::fill::zeros), arma::mat(3, 2, arma::fill::ones)).relative_max));
  CHECK(row_errors(1e200 * exact, 1e200 * near).cosine_mean == doctest::Approx(1.0 / 3));
  CHECK(contains(refusal([&] { row_errors(exact, near.rows(0, 1)); }), "matrices of one size"));
}

TEST_CASE("row_divergences: by the definition, and nothing where a row is no distribution") {
  const arma::mat b = {{0.5, 0.25, 0.25}, {0.2, 0.2, 0.6}}, near = {{1, 0, 0}, {0.2, 0.2, 0.6}};
  const RowDivergences divergences = row_divergences(b, near);
  CHECK(divergences.mean == doctest::Approx(std::log(2.0) / 2));
  CHECK(divergences.q90 == doctest::Approx(0.9 * std::log(2.0)));
  arma::mat wrong = near;
  wrong(0, 1) = 0.01;  // no sum of 1
  CHECK(std::isnan(row_divergences(b, wrong).mean));
  wrong = {{1.1, -0.1, 0}, {0.2, 0.2, 0.6}};
  CHECK(std::isnan(row_divergences(b, wrong).mean));
  arma::mat masked = b;
  masked.row(0) = arma::rowvec{0, 0.5, 0.5};
  CHECK(std::isinf(row_divergences(masked, near).mean));
  // A subnormal b is not 0: b~ / b overflows, its logarithm does not.
  CHECK(row_divergences({{1, 1e-310}}, {{0, 1}}).mean == doctest::Approx(310 * std::log(10.0)).epsilon(1e-13));
}

TEST_CASE("tail_errors: o - o~ = tau (mu_tail - mu_head) and tau = 1 - exp(-KL) for masks; nothing for others") {
  const Problem<double> problem = gaussian_input(Key(7), {.n = 40, .p = 8, .norm = 4});
  const arma::mat b = exact_scores(problem, Target::softmax).dense(), &v = problem.V();
  arma::mat near = b;
  for (arma::uword i = 0; i < 40; ++i) {
    for (arma::uword j = 0; j < 40; ++j) near(i, j) *= (i + 3 * j) % 4 == 0 || i == j ? 1 : 0;
    near.row(i) /= arma::accu(near.row(i));
  }
  double mass = 0, shift = 0;
  for (arma::uword i = 0; i < 40; ++i) {
    // One row at a time, so that nothing is averaged.
    const arma::mat one = b.row(i), other = near.row(i), o = one * v;
    const TailErrors tail = tail_errors(one, other, v);
    CHECK(std::abs(tail.mass - (1 - std::exp(-row_divergences(one, other).mean))) <= 1e-13);
    CHECK(std::abs(tail.mass * tail.shift - arma::norm(o - other * v) / arma::norm(o)) <= 1e-13);
    mass += tail.mass / 40;
    shift += tail.shift / 40;
  }
  CHECK(tail_errors(b, near, v).mass == doctest::Approx(mass));
  CHECK(tail_errors(b, near, v).shift == doctest::Approx(shift));
  CHECK(tail_errors(b, b, v).mass == 0);
  CHECK(std::isnan(tail_errors(b, b, v).shift));
  near.row(5) *= 1.001;  // is no mask any more
  CHECK(std::isnan(tail_errors(b, near, v).mass));
  CHECK(std::isnan(tail_errors(b, arma::mat(40, 40, arma::fill::value(1.0 / 40)), v).mass));
  CHECK(contains(refusal([&] { tail_errors(b, near, v.head_rows(3)); }), "a value for every key"));
}

TEST_CASE("method_errors: errors of rows are those of the output and the scores that the method has") {
  const Problem<double> problem = gaussian_input(Key(3), {.n = 48, .p = 8, .norm = 3});
  const auto rows = method_errors(problem, parse_methods("v-mean,longformer,nystromformer"), {16}, 1, Key(4),
                                  {.rows = {}, .scores = false, .row_errors = true});
  REQUIRE(rows.size() == 3);
  const arma::mat exact = exact_attention(problem, Target::softmax).output;
  const arma::rowvec mean = arma::mean(problem.V(), 0);
  std::vector<double> relative;
  for (arma::uword i = 0; i < 48; ++i) relative.push_back(arma::norm(exact.row(i) - mean) / arma::norm(exact.row(i)));
  CHECK(rows[0].row_rel_q50 == doctest::Approx(plain_quantile(relative, 0.5)));
  CHECK(rows[0].row_rel_q90 == doctest::Approx(plain_quantile(relative, 0.9)));
  CHECK(rows[0].row_rel_max == doctest::Approx(*std::max_element(relative.begin(), relative.end())));
  // Of the uniform row: log(1/n) less the mean of log b_ij.
  const arma::mat b = exact_scores(problem, Target::softmax).dense();
  double divergence = 0;
  for (arma::uword i = 0; i < 48; ++i) divergence += -std::log(48.0) - arma::mean(arma::log(b.row(i)));
  CHECK(rows[0].row_kl_mean == doctest::Approx(divergence / 48));
  CHECK(rows[1].row_kl_mean > 0);          // a mask that is renormalised
  CHECK(std::isnan(rows[2].row_kl_mean));  // has negative entries
  CHECK(rows[2].row_rel_q50 > 0);
  CHECK(std::isnan(rows[0].tail_mass));
  CHECK(rows[1].tail_mass > 0);
  CHECK(rows[1].tail_shift > 0);
  CHECK(std::isnan(rows[2].tail_mass));
  // Jensen: the mean of 1 - exp(-KL) is at most that of the mean.
  CHECK(rows[1].tail_mass <= 1 - std::exp(-rows[1].row_kl_mean));
}

TEST_CASE("method_errors: alpha and kappa are those of the draw of hyperattention, and of no other method") {
  const Problem<double> plain = gaussian_input(Key(3), {.n = 48, .p = 8, .norm = 3});
  const Problem<double> causal(plain.Q(), plain.K(), plain.V(), {}, {.bias = {}, .causal = true});
  const ErrorSettings settings = {.rows = {}, .scores = false, .row_errors = true};
  for (const Problem<double>& problem : {plain, causal}) {
    const ErrorKeys keys = {Key(4).child("draws"), Key(4).child("rows")};
    const auto rows =
        method_errors(problem, parse_methods("v-mean,hyperattention:preset=code"), {12, 48}, 2, keys, settings);
    REQUIRE(rows.size() == 6);  // v-mean is not random
    CHECK(std::isnan(rows[0].alpha));
    for (const std::size_t i : {2U, 3U}) {
      const SamplingCondition condition = hyperattention_condition(
          problem, 12, keys.draw("hyperattention", 12, rows[i].trial), HyperattentionOptions::code());
      CHECK(rows[i].alpha == condition.alpha);
      CHECK(rows[i].kappa == condition.kappa);
      CHECK(rows[i].kappa > 1);
    }
    CHECK(std::isnan(rows[4].alpha));  // exact
    CHECK(std::isnan(method_errors(problem, parse_methods("hyperattention"), {12}, 1, keys).front().alpha));
  }
}
