// Golub-Kahan-Lanczos, the matrix-free half of linalg/norms.
#include <doctest/doctest.h>
#include <croquis/linalg/norms.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr std::uint64_t kTrials = 10;

struct Known {
  std::string name;
  arma::uword rows, cols;
  arma::vec values;  // the singular values that are not zero
};

// Hard and easy spectra. Twelve, ten trials each, in two precisions and two numbers of steps: 480 brackets, each of
// which fails with probability 1e-9.
std::vector<Known> known_spectra() {
  const arma::vec clustered = 1 - 1e-4 * arma::square(arma::linspace(0, 1, 40));
  const arma::vec twin = arma::join_cols(arma::vec{1.0, 1.0}, arma::linspace(0.9, 0.1, 30));
  return {{"clustered at the top", 40, 40, clustered},
          {"clustered, tall", 90, 40, clustered},
          {"clustered, wide", 40, 90, clustered},
          {"largest value twice", 50, 60, twin},
          {"identity", 30, 30, arma::vec(30, arma::fill::ones)},
          {"geometric", 45, 35, arma::exp2(-arma::linspace(0, 34, 35))},
          {"rank 1", 20, 30, {3.0}},
          {"rank 1, tall", 30, 20, {3.0}},
          {"one column", 9, 1, {2.0}},
          {"one row", 1, 9, {2.0}},
          {"one entry", 1, 1, {0.5}},
          {"two rows", 2, 50, {2.0, 1.9}}};
}

// lower <= ||A|| <= upper, with `error` for what the stored A may differ from the A of these singular values.
bool brackets(const NormEstimate& estimate, double norm, double error) {
  return estimate.lower <= norm * (1 + error) && norm * (1 - error) <= estimate.upper &&
         estimate.lower <= estimate.value && estimate.value <= estimate.upper;
}

}  // namespace

TEST_CASE_TEMPLATE("Lanczos: the bracket holds the norm, for few steps and for many", T, float, double) {
  const Key key = Key(test_seed()).child("lanczos");
  for (const Known& known : known_spectra()) {
    CAPTURE(known.name);
    const arma::Mat<T> a = arma::conv_to<arma::Mat<T>>::from(
        with_singular_values(known.rows, known.cols, known.values, key.child(known.name)));
    // Making and rounding A: n u ||A|| from the products, ||A||_F u from the rounding to T, at most 100 u in all; and
    // the products with A inside the iteration, whose rounding the bracket's own allowance covers.
    const double error = 100 * unit<double>() + 10 * unit<T>();
    for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
      const NormEstimate few = spectral_norm(as_operator(a), key.child(trial), {.max_steps = 8});
      const NormEstimate many = spectral_norm(as_operator(a), key.child(trial));
      CHECK(brackets(few, known.values.max(), error));
      CHECK(brackets(many, known.values.max(), error));
      CHECK(few.steps <= 8);
      CHECK(many.converged);
      // The residual is that of a singular value: one lies within it of the Ritz value.
      const double nearest = arma::abs(known.values - many.value).min();
      CHECK(nearest <= many.residual + (error + 20 * many.steps * unit<T>()) * known.values.max());
    }
  }
}

TEST_CASE("Lanczos: the Ritz value alone is no upper bound: a mutant without the probability bound is caught") {
  const Key key = Key(test_seed()).child("mutant");
  const arma::mat a = with_singular_values(200, 200, arma::linspace(1, 0.5, 200), key);
  NormEstimate estimate = spectral_norm(as_operator(a), key, {.max_steps = 8});
  CHECK_FALSE(estimate.converged);
  CHECK(brackets(estimate, 1.0, 1e-13));
  // After 8 steps in dimension 200 the Ritz value is below the norm by far more than rounding.
  estimate.upper = estimate.value;
  CHECK_FALSE(brackets(estimate, 1.0, 1e-13));
}

TEST_CASE("Lanczos: the upper end is that of Kuczynski and Wozniakowski, and the lower one allows for rounding") {
  // P(1 - theta^2 / ||A||^2 > e) <= 1.648 sqrt(n) exp(-sqrt(e) (2 k - 1)) after k steps; 20 u a step for rounding.
  const Key key = Key(test_seed()).child("bound");
  constexpr arma::uword n = 200;
  const arma::mat a = with_singular_values(n, n, arma::linspace(1, 0.5, n), key);
  for (const int k : {20, 40}) {
    for (const double failure : {1e-3, 1e-9}) {
      const NormEstimate found =
          spectral_norm(as_operator(a), key, {.tolerance = 1e-300, .max_steps = k, .failure = failure});
      REQUIRE(found.steps == k);
      const double root = std::log(1.648 * std::sqrt(double{n}) / failure) / (2 * k - 1);
      CHECK(found.upper == doctest::Approx(found.value / std::sqrt(1 - root * root)).epsilon(1e-11));
      const double allowance = (found.value - found.lower) / found.value / (k * unit<double>());
      CHECK(allowance > 19);
      CHECK(allowance < 21);
    }
  }
}

TEST_CASE("Lanczos: the bracket narrows with the steps and closes when the space is exhausted") {
  const Key key = Key(test_seed()).child("narrow");
  const arma::mat a = with_singular_values(150, 120, arma::linspace(1, 0.01, 120), key);
  double width = std::numeric_limits<double>::infinity();
  for (const int steps : {15, 30, 60}) {
    const NormEstimate estimate = spectral_norm(as_operator(a), key, {.tolerance = 1e-300, .max_steps = steps});
    CHECK(estimate.steps == steps);
    CHECK(estimate.upper - estimate.lower < width);
    width = estimate.upper - estimate.lower;
  }
  const std::pair<arma::uword, arma::uword> sizes[] = {{15, 12}, {12, 12}, {12, 15}, {12, 13}};
  for (const auto& [m, n] : sizes) {
    const arma::mat small = with_singular_values(m, n, arma::linspace(1, 0.9, 12), key);
    const NormEstimate closed = spectral_norm(as_operator(small), key, {.tolerance = 1e-300});
    CHECK(closed.converged);
    CHECK(closed.upper - closed.lower <= 2 * 20 * 14 * unit<double>());  // rounding alone is left, 20 u a step and side
  }
}

TEST_CASE_TEMPLATE("Lanczos: converged means a residual within the tolerance", T, float, double) {
  const Key key = Key(test_seed()).child("tolerance");
  const arma::Mat<T> a =
      arma::conv_to<arma::Mat<T>>::from(with_singular_values(80, 80, arma::exp(-arma::linspace(0, 5, 80)), key));
  for (const double tolerance : {1e-1, 1e-2, 1e-4}) {
    const NormEstimate estimate = spectral_norm(as_operator(a), key, {.tolerance = tolerance});
    CHECK(estimate.converged);
    CHECK(estimate.residual <= tolerance * estimate.value);
  }
  const NormEstimate hasty = spectral_norm(as_operator(a), key, {.tolerance = 1e-300, .max_steps = 3});
  CHECK_FALSE(hasty.converged);
  CHECK(hasty.steps == 3);
}

TEST_CASE_TEMPLATE("Lanczos: the norm of a difference of operators is that of the difference", T, float, double) {
  const Key key = Key(test_seed()).child("difference");
  const arma::Mat<T> a = random_matrix<T>(60, 60, key.child("a")), b = random_matrix<T>(60, 60, key.child("b"));
  const NormEstimate estimate = spectral_norm(difference(as_operator(a), as_operator(b)), key);
  const double exact = arma::svd(arma::conv_to<arma::mat>::from(a) - arma::conv_to<arma::mat>::from(b)).eval().max();
  // a - b is never rounded in the operator; its products are, by 60 u ||A|| with ||A|| + ||B|| < 2 ||A - B||.
  CHECK(brackets(estimate, exact, 2 * 60 * unit<T>()));
  const NormEstimate nothing = spectral_norm(difference(as_operator(a), as_operator(a)), key);
  CHECK(nothing.value == 0);
  CHECK(nothing.upper == 0);
}

TEST_CASE_TEMPLATE("Lanczos: the zero and the empty operator have norm 0", T, float, double) {
  const Key key(test_seed());
  for (const arma::Mat<T>& a : {arma::Mat<T>(5, 4, arma::fill::zeros), arma::Mat<T>(4, 5, arma::fill::zeros),
                                arma::Mat<T>(1, 1, arma::fill::zeros), arma::Mat<T>(0, 4), arma::Mat<T>(4, 0)}) {
    const NormEstimate estimate = spectral_norm(as_operator(a), key);
    CHECK(estimate.value == 0);
    CHECK(estimate.lower == 0);
    CHECK(estimate.upper == 0);
  }
}

TEST_CASE_TEMPLATE("Lanczos: scale is nothing to the relative bracket", T, float, double) {
  const Key key = Key(test_seed()).child("scale");
  const arma::mat a = with_singular_values(30, 30, arma::linspace(1, 0.1, 30), key);
  for (const double scale : {1e-12, 1.0, 1e12}) {
    const arma::Mat<T> b = arma::conv_to<arma::Mat<T>>::from(scale * a);
    CHECK(brackets(spectral_norm(as_operator(b), key), scale, 100 * unit<double>() + 10 * unit<T>()));
  }
}

TEST_CASE("Lanczos: the same key gives the same estimate, another key another") {
  const Key key = Key(test_seed()).child("stream");
  const LinearOperator<double> a = as_operator(random_matrix(40, 40, key.child("a")));
  const LanczosOptions three = {.max_steps = 3};
  CHECK(spectral_norm(a, key, three).value == spectral_norm(a, key, three).value);
  CHECK(spectral_norm(a, key, three).value != spectral_norm(a, key.child(1), three).value);
}

TEST_CASE("Lanczos: options that say nothing are refused") {
  const LinearOperator<double> a = as_operator(arma::mat(2, 2, arma::fill::eye));
  const Key key(test_seed());
  CHECK(contains(refusal([&] { spectral_norm(a, key, {.max_steps = 0}); }), "max_steps >= 1"));
  CHECK(contains(refusal([&] { spectral_norm(a, key, {.tolerance = 0}); }), "tolerance > 0"));
  CHECK(contains(refusal([&] { spectral_norm(a, key, {.failure = 0}); }), "0 < failure < 1"));
  CHECK(contains(refusal([&] { spectral_norm(a, key, {.failure = 1}); }), "failure = 1"));
}

TEST_CASE("spectral_norm of an operator: in few dimensions it is the largest singular value, whatever the start is") {
  // With the residual alone as a test, one of some 1000 starts ends at the second singular value.
  const arma::mat a = arma::diagmat(arma::vec{1.24, 0.95, 0.009});
  double least = 2;
  for (std::uint64_t start = 0; start < 20000; ++start) {
    least = std::min(least, spectral_norm(as_operator(a), Key(start), {.tolerance = 1e-3}).value);
  }
  CHECK(least == doctest::Approx(1.24).epsilon(1e-12));
}
