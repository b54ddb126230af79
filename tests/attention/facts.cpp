// What the record of every method says of it: row sums, where it is exact, whether it knows positions.
#include <croquis/attention/exact.hpp>
#include <croquis/attention/method.hpp>

#include "support/approximations.hpp"
#include "support/methods.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("methods: rows of B~ sum to 1 where the record says so, and elsewhere they need not", T, float,
                   double) {
  // Moderate norms and few landmarks, so that sums are n + d terms, of which the largest are a thousand times the sum.
  const Problem<T> problem = random_problem<T>(40, 8, 3, 4, Key(31));
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    const auto approximation = run(c, problem, 8, Key(32));
    const double gap = row_sum_gap(approximation);
    if (c.method->rows_sum_to_one(c.options)) {
      CHECK(gap <= 1e3 * 40 * 40 * unit<T>());
    } else if (c.options.all().empty()) {
      CHECK(gap > 1e-4);
    }
  }
}

TEST_CASE_TEMPLATE("methods: exact at the d that the record names, for all draws", T, float, double) {
  const Key draw_key = Key(test_seed()).child("exact");
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    for (const TokenAlignment shape : {TokenAlignment{12, 12}, {5, 12}, {12, 5}, {1, 12}}) {
      if (shape.n_q != shape.n_k && !c.method->rectangular(c.options)) continue;
      CAPTURE(shape.n_q);
      CAPTURE(shape.n_k);
      const auto d = c.method->exact_at(shape, c.options);
      if (!d) continue;
      const auto most = c.method->largest_d(shape, c.options);
      CHECK(*d <= most.value_or(*d));
      const Problem<T> problem = random_rectangle<T>(shape.n_q, shape.n_k, 16, 3, 6, draw_key);
      const ExactAttention<T> exact = exact_attention(problem, c.method->target);
      for (std::uint64_t draw = 0; draw < 3; ++draw) {
        // An inverse of at most 24 points of these norms has a condition of a thousand; 1e3 n^2 u as elsewhere.
        CHECK(distance(run(c, problem, *d, draw_key.child(draw)).output, exact.output) <=
              1e3 * 24 * 24 * unit<T>() * static_cast<double>(largest_entry_of(problem.V())));
      }
    }
  }
}

TEST_CASE_TEMPLATE("methods: those with a causal form do not see later keys, but for an oracle", T, float, double) {
  const Key draw_key = Key(test_seed()).child("causal");
  const Problem<T> plain = random_problem<T>(30, 6, 3, 2, draw_key);
  const RelativePosition<T> causal{{}, true, 1};
  const Problem<T> masked(plain.Q(), plain.K(), plain.V(), {}, causal);
  arma::Mat<T> later = plain.V();
  later.tail_rows(10) += T(5);
  const Problem<T> changed(plain.Q(), plain.K(), later, {}, causal);
  for (const Case<T>& c : all_cases<T>()) {
    CAPTURE(c.text);
    if (has_position(c.method->target)) CHECK(c.method->causal);
    if (!c.method->causal) continue;
    const arma::Mat<T> output = run(c, masked, 8).output;
    const arma::Mat<T> other = run(c, changed, 8).output;
    // The best B_d of rank d has entries above the diagonal.
    if (!c.method->quadratic(c.options))
      CHECK(identical(arma::Mat<T>(other.head_rows(20)), arma::Mat<T>(output.head_rows(20))));
    CHECK(distance(other.tail_rows(10), output.tail_rows(10)) > 0.01);
    CHECK(distance(output, run(c, plain, 8).output) > 0.01);
  }
}
