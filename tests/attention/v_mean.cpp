#include <doctest/doctest.h>
#include <croquis/attention/v_mean.hpp>

#include "support/attention.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("v-mean: every row is the mean of the values, whatever the queries and keys", T, float, double) {
  for (const arma::uword n : {1U, 9U, 300U}) {
    const Problem<T> problem = random_problem<T>(n, 4, 3, 5, Key(test_seed()).child(n), 2);
    const Approximation<T> approximation = v_mean(problem);
    Dense mean(n, 3);
    for (arma::uword i = 0; i < n; ++i) {
      for (arma::uword c = 0; c < 3; ++c) {
        for (arma::uword j = 0; j < n; ++j)
          mean(i, c) += static_cast<long double>(problem.V()(j, c)) / static_cast<long double>(n);
      }
    }
    // n terms and a quotient, twice: the method's and the reference's own.
    const double bound =
        2 * (static_cast<double>(n) + 1) * unit<T>() * static_cast<double>(largest_entry_of(problem.V()));
    CHECK(distance(approximation.output, mean) <= bound);
    CHECK(interface_gap(approximation, problem) <= 2 * (static_cast<double>(n) + 1) * unit<T>());
    const Problem<T> other(problem.K(), problem.Q(), problem.V());
    CHECK(identical(v_mean(other).output, approximation.output));
  }
}
