#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/measure/bounds.hpp>
#include <croquis/measure/method_errors.hpp>

#include <cmath>
#include <utility>

#include "support/seed.hpp"

using croquis::ErrorBounds;
using croquis::Key;
using croquis::MethodChoice;
using croquis::Problem;
using croquis::Target;

namespace {

MethodChoice choice(const std::string& text) {
  return croquis::parse_methods(text).front();
}

double spectral(const arma::mat& x) {
  return arma::svd(x).max();
}

}  // namespace

TEST_CASE("error bounds: T9 solved for lambda, by eigenvalues of the lift and a scan") {
  // Few distinct points, so that leverage scores are small and the theorem asks for few landmarks.
  const auto few = croquis::gaussian_input(Key(test_seed()), {.n = 4, .p = 3, .norm = 1});
  const arma::mat q = arma::repmat(few.Q(), 64, 1), k = arma::repmat(few.K(), 64, 1), v = arma::repmat(few.V(), 64, 1);
  const Problem<double> problem(q, k, v);
  const arma::uword n = problem.n(), d = 400;
  arma::mat points = arma::join_cols(q, k) / std::pow(3.0, 0.25), lift(2 * n, 2 * n);
  for (arma::uword i = 0; i < 2 * n; ++i) {
    for (arma::uword j = 0; j < 2 * n; ++j) {
      lift(i, j) = std::exp(-arma::accu(arma::square(points.row(i) - points.row(j))) / 2);
    }
  }
  const auto asked = [&](double lambda) {
    const arma::mat leverage = lift * arma::inv_sympd(lift + lambda * arma::eye(2 * n, 2 * n));
    return 6.52 * (2 * double(n) * leverage.diag().max() + 1) * std::log(2 * double(n) / 0.1);
  };
  const arma::mat exact = croquis::exact_attention(problem, Target::kernelized).output;
  const ErrorBounds bounds(problem);
  const auto bound = bounds.of(choice("skyformer"), d, exact);
  REQUIRE(bound);
  const double lambda = 2 * bound->value / spectral(v);
  CHECK(asked(lambda * 1.001) <= double(d));
  CHECK(asked(lambda / 1.001) > double(d));
  CHECK(bound->probability == 0.9);
  CHECK(bound->source == "skyformer T9");
  CHECK_FALSE(bounds.of(choice("skyformer:preset=code"), d, exact));
  CHECK_FALSE(bounds.of(choice("skyformer:ridge=0.1"), d, exact));
  CHECK_FALSE(bounds.of(choice("v-mean"), d, exact));
  CHECK(bounds.of(choice("skyformer:landmarks=stratified"), d, exact)->source == "skyformer lift");
  // Options count by their values, not by their spelling.
  for (const char* const spelling : {"skyformer:ridge=0", "skyformer:iterations=3,inverse=pinv",
                                     "skyformer:preset=code,landmarks=uniform,inverse=pinv,ridge=0"}) {
    CAPTURE(spelling);
    const auto same = bounds.of(choice(spelling), d, exact);
    REQUIRE(same);
    CHECK(same->value == bound->value);
    CHECK(same->source == "skyformer T9");
  }
}

TEST_CASE("error bounds: half the norm of the lift, for every draw, where T9 asks for more landmarks") {
  const auto problem = croquis::gaussian_input(Key(test_seed()), {.n = 60, .p = 4, .norm = 2});
  arma::mat points = arma::join_cols(problem.Q(), problem.K()) / std::sqrt(2.0), lift(120, 120);
  for (arma::uword i = 0; i < 120; ++i) {
    for (arma::uword j = 0; j < 120; ++j) {
      lift(i, j) = std::exp(-arma::accu(arma::square(points.row(i) - points.row(j))) / 2);
    }
  }
  const double half = spectral(lift) * spectral(problem.V()) / 2;
  const arma::mat exact = croquis::exact_attention(problem, Target::kernelized).output;
  const ErrorBounds bounds(problem);
  // 6.52 log(2n / delta) is 46: T9 says nothing of 8, and of 64 less than the lift.
  for (const arma::uword d : {8U, 64U}) {
    for (const char* const spelling : {"skyformer", "skyformer:landmarks=stratified"}) {
      CAPTURE(spelling);
      const auto bound = bounds.of(choice(spelling), d, exact);
      REQUIRE(bound);
      CHECK(bound->value == doctest::Approx(half));
      CHECK(bound->probability == 1);
      CHECK(bound->source == "skyformer lift");
    }
  }
  for (const auto& row :
       croquis::method_errors(problem, {choice("skyformer")}, {8}, 20, Key(test_seed()), {.rows = {}})) {
    CHECK(row.spectral_abs <= half);
  }
}

TEST_CASE("error bounds: T1 and T12 are their formulas, and hold nine times out of ten") {
  const auto problem = croquis::gaussian_input(Key(test_seed()), {.n = 60, .p = 4, .norm = 2});
  const arma::mat scores = croquis::exact_scores(problem, Target::softmax).dense(), exact = scores * problem.V();
  const ErrorBounds bounds(problem);
  const arma::uword d = 32;
  const auto t1 = bounds.of(choice("linformer-unreduced"), d, exact);
  REQUIRE(t1);
  const double product = arma::norm(scores, "fro") * arma::norm(problem.V(), "fro"), size = arma::norm(exact, "fro");
  CHECK(t1->value == doctest::Approx(std::sqrt((product * product + size * size) / (32 * 0.1))));
  CHECK(bounds.of(choice("linformer-unreduced"), 8, exact)->value == doctest::Approx(2 * t1->value));
  const auto t12 = bounds.of(choice("sampled-columns:p=exact"), d, exact);
  REQUIRE(t12);
  double sum = 0;
  for (arma::uword i = 0; i < 60; ++i) sum += arma::norm(scores.col(i)) * arma::norm(problem.V().row(i));
  CHECK(t12->value == doctest::Approx(sum / std::sqrt(32.0) * (1 + std::sqrt(2 * std::log(10.0)))));
  CHECK_FALSE(bounds.of(choice("sampled-columns"), d, exact));
  const auto uniform = bounds.of(choice("sampled-columns:p=uniform"), d, exact);
  REQUIRE(uniform);
  double beta = 1;  // the largest with 1/60 >= beta ||B^(i)|| ||V_i|| / sum
  for (arma::uword i = 0; i < 60; ++i) {
    beta = std::min(beta, sum / (60 * arma::norm(scores.col(i)) * arma::norm(problem.V().row(i))));
  }
  CHECK(uniform->value == doctest::Approx(sum / std::sqrt(beta * 32) * (1 + std::sqrt(2 / beta * std::log(10.0)))));
  CHECK(uniform->source == "skeinformer T12");
  const Problem<double> no_values(problem.Q(), problem.K(), arma::zeros(60, 4));
  CHECK(ErrorBounds(no_values).of(choice("sampled-columns:p=uniform"), d, arma::zeros(60, 4))->value == 0);

  // Values whose squares vanish.
  const double small = std::ldexp(1.0, -570);
  const Problem<double> little(problem.Q(), problem.K(), small * problem.V());
  for (const auto& [method, value] : {std::pair("linformer-unreduced", t1->value),
                                      {"sampled-columns:p=exact", t12->value},
                                      {"sampled-columns:p=uniform", uniform->value}}) {
    const auto bound = ErrorBounds(little).of(choice(method), d, small * exact);
    CHECK(bound->value == doctest::Approx(small * value).scale(0));
  }

  // 200 draws each: more than 60 failures at a rate of 0.1 have probability below 1e-13.
  const auto rows = croquis::method_errors(problem, {choice("linformer-unreduced"), choice("sampled-columns:p=exact")},
                                           {d}, 200, Key(test_seed()), {.rows = {}, .bounds = true});
  std::size_t failures = 0;
  for (const auto& row : rows) {
    CHECK(row.bound_abs == doctest::Approx(row.method == "sampled-columns" ? t12->value : t1->value));
    failures += row.spectral_abs > row.bound_abs ? 1 : 0;
  }
  CHECK(rows.size() == 400);
  CHECK(failures <= 60);
}

TEST_CASE("error bounds: outputs that need no method, and problems without a bound") {
  const auto problem = croquis::gaussian_input(Key(test_seed()), {.n = 60, .p = 4, .norm = 0.1});
  const arma::mat exact = croquis::exact_attention(problem, Target::softmax).output;
  CHECK(ErrorBounds(problem).of(choice("linformer-unreduced"), 2, exact)->trivial == "output 0, V-mean");
  // Values of mean 100: the output 0 is far away, the mean is near.
  const Problem<double> shifted(problem.Q(), problem.K(), problem.V() + 100);
  const arma::mat large = croquis::exact_attention(shifted, Target::softmax).output;
  CHECK(ErrorBounds(shifted).of(choice("linformer-unreduced"), 60, large)->trivial == "V-mean");
  // Kernelized scores of close points are nearly constant, but their rows do not sum to 1.
  const arma::mat kernelized = croquis::exact_attention(shifted, Target::kernelized).output;
  const auto t9 = ErrorBounds(shifted).of(choice("skyformer"), 120, kernelized);
  CHECK(t9->source == "skyformer T9");
  const Problem<double> sums(problem.Q(), problem.K(), arma::ones(60, 1));
  const double mean_score = arma::accu(croquis::exact_attention(sums, Target::kernelized).output) / (60 * 60);
  CHECK(arma::norm(kernelized - mean_score * arma::ones(60, 60) * shifted.V()) < t9->value);
  CHECK(t9->trivial == "constant scores");
  const Problem<double> rectangular(problem.Q().head_rows(10), problem.K(), problem.V());
  CHECK_FALSE(ErrorBounds(rectangular).of(choice("linformer-unreduced"), 8, exact.head_rows(10)));
  const Problem<double> causal(problem.Q(), problem.K(), problem.V(), {}, {.bias = {}, .causal = true});
  CHECK_FALSE(ErrorBounds(causal).of(choice("linformer-unreduced"), 8, exact));
}
