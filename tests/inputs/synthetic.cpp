#include <doctest/doctest.h>
#include <croquis/inputs/synthetic.hpp>

#include <cmath>
#include <functional>
#include <vector>

#include "support/dense.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

std::vector<double> entries(const arma::mat& m, double divisor) {
  std::vector<double> sample(m.begin(), m.end());
  for (double& x : sample) x /= divisor;
  return sample;
}

}  // namespace

TEST_CASE("gaussian_input: entries are independent N(0, norm^2 / p), values N(0,1), and mutants are rejected") {
  // 64,000 entries each; three distributions and three correlations share 1e-9. A norm without the 1/sqrt(p), or off by
  // 5 %, moves the sum of squares by 18 deviations and more; Q in the place of K is at 253 deviations.
  constexpr double failure = 1e-9 / 6;
  const SyntheticSize options{.n = 2000, .p = 32, .norm = 6};
  using Draw = std::function<Problem<double>(const Key&)>;
  const auto accepts = [&](const Draw& draw) {
    const Problem<double> problem = draw(Key(test_seed()).child("gaussian"));
    const std::vector<double> q = entries(problem.Q(), 6 / std::sqrt(32.0)),
                              k = entries(problem.K(), 6 / std::sqrt(32.0)), v = entries(problem.V(), 1);
    return sample_is_normal(q, failure) && sample_is_normal(k, failure) && sample_is_normal(v, failure) &&
           samples_are_uncorrelated(q, k, failure) && samples_are_uncorrelated(q, v, failure) &&
           samples_are_uncorrelated(k, v, failure);
  };
  const Draw distribution = [&](const Key& s) { return gaussian_input(s, options); };
  CHECK(accepts(distribution));
  CHECK_FALSE(accepts([&](const Key& s) {
    const Problem<double> p = distribution(s);
    return Problem<double>(1.05 * p.Q(), p.K(), p.V());
  }));
  CHECK_FALSE(accepts([&](const Key& s) {
    const Problem<double> p = distribution(s);
    return Problem<double>(p.Q(), p.K() * std::sqrt(32.0), p.V());
  }));
  CHECK_FALSE(accepts([&](const Key& s) {
    const Problem<double> p = distribution(s);
    return Problem<double>(p.Q(), p.Q(), p.V());
  }));
}

TEST_CASE("gaussian_input: has the sizes asked for, and the same random key gives the same problem") {
  const Problem<double> problem = gaussian_input(Key(1), {.n = 7, .p = 3, .norm = 2});
  CHECK(problem.n() == 7);
  CHECK(problem.p() == 3);
  CHECK(problem.p_v() == 3);
  CHECK(identical(problem.Q(), gaussian_input(Key(1), {.n = 7, .p = 3, .norm = 2}).Q()));
  CHECK_FALSE(identical(problem.Q(), gaussian_input(Key(2), {.n = 7, .p = 3, .norm = 2}).Q()));
  // Twice the norm is the same draw twice as large.
  CHECK(distance(gaussian_input(Key(1), {.n = 7, .p = 3, .norm = 4}).K(), 2 * problem.K()) == 0);
  const Problem<double> zero = gaussian_input(Key(1), {.n = 1, .p = 1, .norm = 0});
  CHECK(zero.Q()(0, 0) == 0);
  CHECK(zero.V()(0, 0) != 0);
}

TEST_CASE("gaussian_input: sizes of 0 and norms that are none are refused") {
  CHECK(refusal([] { gaussian_input(Key(1), {.n = 0}); }) == "gaussian_input: n, p >= 1, got n = 0, p = 64");
  CHECK(contains(refusal([] { gaussian_input(Key(1), {.p = 0}); }), "p = 0"));
  CHECK(refusal([] { gaussian_input(Key(1), {.norm = -1}); }) == "gaussian_input: a finite norm >= 0, got norm = -1");
  CHECK(contains(refusal([] { gaussian_input(Key(1), {.norm = arma::datum::nan}); }), "norm = nan"));
  CHECK(contains(refusal([] { gaussian_input(Key(1), {.norm = arma::datum::inf}); }), "norm = inf"));
}
