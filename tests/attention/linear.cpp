#include <doctest/doctest.h>
#include <croquis/attention/linear.hpp>

#include <cmath>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("linear: elu + 1 features over their sums, whatever d is", T, float, double) {
  const Problem<T> problem = random_problem<T>(40, 5, 3, 3, Key(test_seed()).child("linear"));
  const auto feature = [](long double x) { return x > 0 ? x + 1 : std::exp(x); };
  const auto approximation = linear_attention(problem);
  const Dense q = problem.Q(), k = problem.K(), v = problem.V();
  // Exponents of at most 8 by 6 u, 40 keys by 5 features: positive terms throughout.
  const double bound = 4 * (8 * 6 + 40 + 10) * unit<T>() * static_cast<double>(largest_entry_of(v));
  for (arma::uword i = 0; i < 40; ++i) {
    std::vector<long double> numerator(3);
    long double sum = 0;
    for (arma::uword j = 0; j < 40; ++j) {
      long double score = 0;
      for (arma::uword c = 0; c < 5; ++c) score += feature(q(i, c)) * feature(k(j, c));
      sum += score;
      for (arma::uword c = 0; c < 3; ++c) numerator[c] += score * v(j, c);
    }
    for (arma::uword c = 0; c < 3; ++c) {
      CHECK(std::abs(static_cast<double>(static_cast<long double>(approximation.output(i, c)) - numerator[c] / sum)) <=
            bound);
    }
  }
  const PreparedMethod<T> prepared_method = prepare(find_method<T>("linear"), problem);
  CHECK(identical(prepared_method.approximate(1, Key(1)).output, prepared_method.approximate(64, Key(2)).output));
}

TEST_CASE("linear: flops are those of the sums over the keys, and of all pairs in a chunk of 128 causal queries") {
  const auto flops = [](const Problem<double>& problem) {
    return prepare(find_method<double>("linear"), problem).flops(1);
  };
  const auto few = random_rectangle<double>(10, 24, 5, 3, 1, Key(1));
  CHECK(flops(few) == 2 * (10 + 24) * 5 * (3 + 1));
  const auto causal = random_rectangle<double>(200, 300, 5, 3, 1, Key(1), {.bias = {}, .causal = true});
  const double pairs = 128 * 128 + 72 * 72;
  CHECK(flops(causal) == 2 * (200 + 300) * 5 * (3 + 1) + 2 * pairs * ((5 + 3) + (5 + 1)));
}

TEST_CASE_TEMPLATE("linear: queries and keys of any size give means of values", T, float, double) {
  for (const double norm : {1e-6, 100.0, 1e4, 1e6}) {
    const Problem<T> problem = random_problem<T>(30, 6, 2, norm, Key(test_seed()).child("large"));
    for (const T sign : {T(1), T(-1)}) {  // all negative: features underflow
      const auto output =
          linear_attention(Problem<T>(sign * arma::abs(problem.Q()), sign * arma::abs(problem.K()), problem.V()))
              .output;
      CHECK(output.is_finite());
      CHECK(output.max() <= problem.V().max() + T(1e-4));
      CHECK(output.min() >= problem.V().min() - T(1e-4));
    }
  }
}
