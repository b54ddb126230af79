#include <doctest/doctest.h>
#include <croquis/linalg/spectrum.hpp>
#include <croquis/linalg/trace_estimate.hpp>

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <croquis/random/draws.hpp>
#include <functional>
#include <string>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
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

// A small operator, always the same, of which thousands of sums are estimated from 16 probes each.
constexpr int kProbes = 16;
const arma::vec kFewEigenvalues = arma::exp(-arma::linspace(0, 2, 20));

Key few_key() {
  return Key(31);
}

LinearOperator<double> few() {
  return as_operator(with_singular_values(20, 20, kFewEigenvalues, few_key()));
}

// f(|A|) of few(), from the right singular vectors that it was made with.
Dense filtered(const Function& function) {
  const Dense v = random_orthonormal(20, 20, few_key().child("right"));
  Dense f(20, 20);
  for (arma::uword i = 0; i < 20; ++i) {
    for (arma::uword j = 0; j < 20; ++j) {
      for (arma::uword k = 0; k < 20; ++k) {
        f(i, j) += v(i, k) * v(j, k) * static_cast<long double>(function.f(kFewEigenvalues(k)));
      }
    }
  }
  return f;
}

// z^T F z for the probes of the key.
std::vector<double> forms_of(const Dense& f, const Key& key) {
  std::vector<double> forms;
  for (std::uint64_t probe = 0; probe < kProbes; ++probe) {
    std::vector<double> z(f.rows);
    fill_signs(key.child(probe), 0, z.size(), 1.0, z.data());
    long double form = 0;
    for (arma::uword i = 0; i < f.rows; ++i) {
      for (arma::uword j = 0; j < f.cols; ++j) form += f(i, j) * static_cast<long double>(z[i] * z[j]);
    }
    forms.push_back(static_cast<double>(form));
  }
  return forms;
}

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

TEST_CASE("spectral_sum: the interval is Student's of the forms z^T f(|A|) z, with half of the failure for each side") {
  const Key key = Key(test_seed()).child("student");
  for (const Function& function : kFunctions) {
    CAPTURE(function.name);
    const Dense f = filtered(function);
    const double size = exact(kFewEigenvalues, function);
    for (std::uint64_t t = 0; t < 5; ++t) {
      const std::vector<double> forms = forms_of(f, key.child(t));
      for (const double failure : {0.05, 1e-4, 1e-40}) {  // the last one's lower end is 0
        // 20 steps close every probe. What rounding leaves is far above n^2 u and far below a mistake in the interval.
        const auto sum = spectral_sum<double>(few(), function.f, {}, {}, key.child(t),
                                              {.max_steps = 60, .tolerance = 1e-15, .failure = failure});
        double mean = 0, squares = 0;
        for (const double form : forms) mean += form / kProbes;
        for (const double form : forms) squares += (form - mean) * (form - mean) / (kProbes - 1);
        const boost::math::students_t student(kProbes - 1);
        const double margin =
            boost::math::quantile(boost::math::complement(student, failure / 2)) * std::sqrt(squares / kProbes);
        CHECK(std::abs(sum.value - mean) <= 1e-9 * size);
        CHECK(std::abs(sum.lower - std::max(0.0, mean - margin)) <= 1e-9 * size);
        CHECK(std::abs(sum.upper - (mean + margin)) <= 1e-9 * size);
      }
    }
  }
}

TEST_CASE("spectral_sum: the interval covers as often as Student's does for these forms, and the value is unbiased") {
  const Key key = Key(test_seed()).child("coverage");
  // How often Student's interval of 16 exact forms misses the trace of these three matrices: from 4 million intervals
  // each, drawn with another generator and without this library, to within 0.0002 a standard deviation.
  const double rates[] = {0.0530, 0.0575, 0.0503};
  constexpr std::uint64_t trials = 2000;
  for (std::size_t k = 0; k < kFunctions.size(); ++k) {
    const Function& function = kFunctions[k];
    CAPTURE(function.name);
    const Dense f = filtered(function);
    double truth = 0, squares = 0;
    for (arma::uword i = 0; i < f.rows; ++i) {
      for (arma::uword j = 0; j < f.cols; ++j) squares += i == j ? 0 : static_cast<double>(f(i, j) * f(i, j));
      truth += static_cast<double>(f(i, i));
    }
    double missed = 0, mean = 0;
    for (std::uint64_t t = 0; t < trials; ++t) {
      const auto sum = spectral_sum<double>(few(), function.f, {}, {}, key.child(t), {.max_steps = 60});
      missed += truth < sum.lower || sum.upper < truth ? 1 : 0;
      mean += sum.value / trials;
    }
    // Half of the bracket, 5e-4 of the value at most, is at most 2.4 % of a margin, which is 2.13 standard errors of
    // 0.0098 of the trace or more. With Student's density of 0.047 at 2.13 it takes 2 (2.13) (0.024) (0.047) = 0.005
    // off a rate at most.
    const double nearest = missed < rates[k] * trials ? rates[k] - 0.005 : rates[k] + 0.001;
    CHECK(is_binomial(missed, trials, nearest, kFailure / 6));
    // A form has the variance 2 (|F|_F^2 - sum_i F_ii^2), known beforehand. The third cumulant, 8 tr(F_0^3) with F_0
    // = F less its diagonal, makes a skewness of at most 2^1.5, so 0.016 for the mean of 32,000 forms. It costs the
    // normal tail at 7, 2.6e-12, a factor exp(0.016 7^3 / 6) = 2.5.
    const double deviation = std::sqrt(2 * squares / (kProbes * static_cast<double>(trials)));
    CHECK(std::abs(mean - truth) <= 7 * deviation + 5e-4 * mean);
    CHECK(7 * deviation < 0.02 * truth);
  }
}

TEST_CASE("spectral_sum: of forms whose squares vanish or overflow, the interval is as wide") {
  const Key key = Key(test_seed()).child("scaled");
  const auto square = kFunctions[1].f;
  const arma::mat a = with_singular_values(20, 20, kFewEigenvalues, few_key());
  const auto expected = spectral_sum<double>(as_operator(a), square, {}, {}, key);
  CHECK(expected.lower < 0.99 * expected.upper);
  for (const double scale : {0x1p-300, 0x1p300}) {
    const auto sum = spectral_sum<double>(as_operator(arma::mat(scale * a)), square, {}, {}, key);
    // A power of two changes no bit.
    CHECK(sum.value == square(scale) * expected.value);
    CHECK(sum.lower == square(scale) * expected.lower);
    CHECK(sum.upper == square(scale) * expected.upper);
  }
}

TEST_CASE("spectral_sum: known directions are summed as they are, and the probes see the rest") {
  const Key key = Key(test_seed()).child("known");
  const arma::mat a = with_singular_values(90, 80, kEigenvalues, key);
  const auto sigma = kFunctions[0].f;
  const auto some = leading_spectrum(as_operator(a), 50, key.child("leading"));
  const auto with = spectral_sum<double>(as_operator(a), sigma, some.values, some.right, key);
  const auto without = spectral_sum<double>(as_operator(a), sigma, {}, {}, key);
  // A form without 50 directions deviates by e^{-6 50/79} = 0.022 of what it does with them. From 16 probes each, the
  // estimates of the two deviations are off by the other 22 with the probability that F of 15 and 15 degrees of freedom
  // is above 500, below 1e-16.
  CHECK(with.upper - with.lower < (without.upper - without.lower) / 2);
  CHECK(with.lower >= arma::accu(some.values));
  const auto all = leading_spectrum(as_operator(a), 80, key.child("leading"));
  const auto sure = spectral_sum<double>(as_operator(a), sigma, all.values, all.right, key);
  CHECK(sure.lower == sure.upper);
  CHECK(std::abs(sure.value - arma::accu(kEigenvalues)) <= 1e-10);
}

TEST_CASE("spectral_sum: a probe that lies in the known directions leaves nothing") {
  // Singular values 5, 1, 1 and 1, the first with (1, 1, 1, 1) / 2, in which one probe in eight lies. Others leave what
  // is orthogonal to it, 4 - (sum of signs)^2 / 4; all 320 leave something with probability (7/8)^320 = 3e-19.
  const arma::mat a = arma::mat(4, 4, arma::fill::ones) + arma::eye(4, 4), known(4, 1, arma::fill::value(0.5));
  const auto sigma = kFunctions[0].f;
  for (std::uint64_t t = 0; t < 20; ++t) {
    const Key key = Key(test_seed()).child("nothing left").child(t);
    double mean = 0;
    for (std::uint64_t probe = 0; probe < kProbes; ++probe) {
      arma::vec signs(4);
      fill_signs(key.child(probe), 0, 4, 1.0, signs.memptr());
      mean += (4 - std::pow(arma::accu(signs), 2) / 4) / kProbes;
    }
    const auto sum = spectral_sum<double>(as_operator(a), sigma, {5.0}, known, key);
    CHECK(std::abs(sum.value - (5 + mean)) <= 1e-12);
  }
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
