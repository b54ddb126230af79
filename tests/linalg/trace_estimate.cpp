#include <doctest/doctest.h>
#include <croquis/linalg/spectrum.hpp>
#include <croquis/linalg/trace_estimate.hpp>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

struct Function {
  std::string name;
  std::function<double(double)> f;
};

const std::vector<Function> kFunctions = {{"sigma", [](double x) { return x; }},
                                          {"sigma^2", [](double x) { return x * x; }},
                                          {"sigma / (sigma + 0.1)", [](double x) { return x / (x + 0.1); }}};

double exact(const arma::vec& values, const Function& function) {
  double sum = 0;
  for (const double x : values) sum += function.f(x);
  return sum;
}

const arma::vec kEigenvalues = arma::exp(-arma::linspace(0, 6, 80));

}  // namespace

TEST_CASE("spectral_sum: Gauss and Gauss-Radau bracket the form of the same probes, and close") {
  const Key key = Key(test_seed()).child("bracket");
  const std::pair<arma::uword, arma::uword> sizes[] = {{80, 80}, {130, 80}, {80, 130}};
  for (const auto& [m, n] : sizes) {
    const auto a = as_operator(with_singular_values(m, n, kEigenvalues, key));
    for (const Function& function : kFunctions) {
      CAPTURE(function.name);
      const auto whole = spectral_sum<double>(a, function.f, {}, {}, key, {.max_steps = 130, .tolerance = 1e-13});
      // Closed, but for sigma at zero singular values, which the square root of a squared rounding error is.
      CHECK(whole.bracket <= 1e-6 * whole.value);
      double width = 1e300;
      for (const int steps : {3, 6, 12, 24}) {
        const auto few = spectral_sum<double>(a, function.f, {}, {}, key, {.max_steps = steps, .tolerance = 1e-13});
        CHECK(few.value - few.bracket / 2 <= whole.value * (1 + 1e-6));
        CHECK(whole.value <= (few.value + few.bracket / 2) * (1 + 1e-6));
        CHECK(few.bracket <= width * (1 + 1e-9) + 1e-6 * whole.value);
        CHECK(few.steps <= steps);
        width = few.bracket;
      }
    }
  }
}

TEST_CASE("spectral_sum: the bracket of few steps is not a point: a mutant with Gauss alone is caught") {
  const Key key = Key(test_seed()).child("mutant");
  const auto a = as_operator(with_singular_values(80, 80, kEigenvalues, key));
  const auto sigma = kFunctions[0].f;
  const auto whole = spectral_sum<double>(a, sigma, {}, {}, key, {.tolerance = 1e-13});
  const auto few = spectral_sum<double>(a, sigma, {}, {}, key, {.max_steps = 3, .tolerance = 1e-13});
  CHECK(few.value + few.bracket / 2 > 1.01 * whole.value);  // Gauss is above by far more than rounding
}

TEST_CASE("spectral_sum: the interval covers as often as it says") {
  const Key key = Key(test_seed()).child("coverage");
  const auto a = as_operator(with_singular_values(40, 40, arma::exp(-arma::linspace(0, 4, 40)), key));
  const arma::vec values = arma::exp(-arma::linspace(0, 4, 40));
  constexpr int trials = 100;
  for (const Function& function : kFunctions) {
    CAPTURE(function.name);
    const double truth = exact(values, function);
    int missed = 0;
    arma::vec means(trials);
    for (int t = 0; t < trials; ++t) {
      const auto sum =
          spectral_sum<double>(a, function.f, {}, {}, key.child(static_cast<std::uint64_t>(t)), {.max_steps = 60});
      missed += truth < sum.lower || sum.upper < truth ? 1 : 0;
      means(t) = sum.value;
    }
    // At 0.05 and 100 trials 5 are expected. Student's interval is approximate here: with a true 0.07 more than 25
    // come with probability below 1e-7.
    CHECK(missed <= 25);
    // Unbiased, but for half the bracket (1e-3): a mean of 1600 forms, nearly normal; six standard errors fail with
    // probability 2e-9.
    CHECK(std::abs(arma::mean(means) - truth) <= 6 * arma::stddev(means) / std::sqrt(double(trials)) + 1e-3 * truth);
  }
}

TEST_CASE("spectral_sum: known directions are summed as they are, and the probes see the rest") {
  const Key key = Key(test_seed()).child("known");
  const arma::mat a = with_singular_values(90, 80, kEigenvalues, key);
  const auto sigma = kFunctions[0].f;
  const auto some = leading_spectrum(as_operator(a), 20, key.child("leading"));
  const auto with = spectral_sum<double>(as_operator(a), sigma, some.values, some.right, key);
  const auto without = spectral_sum<double>(as_operator(a), sigma, {}, {}, key);
  CHECK(with.upper - with.lower < (without.upper - without.lower) / 2);
  CHECK(with.lower >= arma::accu(some.values));
  const auto all = leading_spectrum(as_operator(a), 80, key.child("leading"));
  const auto sure = spectral_sum<double>(as_operator(a), sigma, all.values, all.right, key);
  CHECK(sure.lower == sure.upper);
  CHECK(std::abs(sure.value - arma::accu(kEigenvalues)) <= 1e-10);
}

TEST_CASE("spectral_sum: zero and empty operators, and what makes no sense") {
  const Key key(test_seed());
  const auto f = kFunctions[2].f;
  const auto zero = spectral_sum<double>(as_operator(arma::mat(5, 7, arma::fill::zeros)), f, {}, {}, key);
  CHECK(zero.upper == 0);
  CHECK(spectral_sum<double>(as_operator(arma::mat(0, 7)), f, {}, {}, key).value == 0);
  const auto a = as_operator(arma::mat(3, 3, arma::fill::eye));
  CHECK(contains(refusal([&] { spectral_sum<double>(a, f, {}, {}, key, {.probes = 1}); }), "probes >= 2"));
  CHECK(contains(refusal([&] { spectral_sum<double>(a, f, {1.0}, {}, key); }), "a vector"));
}
