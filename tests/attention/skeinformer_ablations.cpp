#include <croquis/attention/skeinformer.hpp>

#include <croquis/random/indices.hpp>
#include <croquis/sampling/pilot.hpp>

#include "support/approximations.hpp"

using namespace croquis;
using Columns = SkeinformerOptions::Columns;
using Rows = SkeinformerOptions::Rows;

namespace {

// The draws as the header says, and B~ written out: all n^2 entries of B at hand.
template <typename T>
Dense expected_scores(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                      const SkeinformerOptions& options) {
  const arma::uword n = problem.n();
  const Dense logits = logits_of(problem.Q(), problem.K()), b = softmax_of(logits);
  if (options.leave_one && d == n && n > 1) --d;
  arma::uvec rows, columns;
  arma::Col<T> weights(n, arma::fill::ones);
  if (options.columns == Columns::pilot) {
    const arma::uword pilots = options.pilot_rows > 0 ? options.pilot_rows : d;
    const Pilot<T> pilot = pilot_sample(problem.Q(), problem.K(), problem.V(), pilots, draw_key.child("pilot"));
    rows = pilot.rows;
    weights = pilot.weights;
  }
  const Key draw = draw_key.child("columns");
  if (options.rows == Rows::weighted) {
    columns = sample_weighted(weights, d, draw);
  } else {
    columns = options.columns == Columns::uniform ? sample_without_replacement(n, d, draw)
                                                  : sample_weighted_without_replacement(weights, d, draw);
  }
  std::vector<int> times(n, 0);
  for (const arma::uword j : columns) ++times[j];
  Dense expected(n, n);
  const auto total = static_cast<long double>(arma::accu(arma::conv_to<arma::vec>::from(weights)));
  for (arma::uword i = 0; i < n; ++i) {
    long double log_mean = 0, sum = 0;
    for (const arma::uword j : columns) log_mean += logits(i, j) / static_cast<long double>(columns.n_elem);
    for (arma::uword j = 0; j < n; ++j) {
      const long double other = options.rows == Rows::adaptive ? log_mean : -1e4L;
      expected(i, j) = std::exp(times[j] > 0 ? logits(i, j) : other);
      sum += expected(i, j);
    }
    for (arma::uword j = 0; j < n; ++j) {
      if (options.rows == Rows::adaptive || options.rows == Rows::simple) expected(i, j) /= sum;
      if (options.rows == Rows::raw) expected(i, j) = times[j] * b(i, j);
      if (options.rows == Rows::weighted) {
        const long double p = static_cast<long double>(weights(j)) / total;
        expected(i, j) = times[j] > 0 ? times[j] * b(i, j) / (static_cast<long double>(d) * p) : 0.0L;
      }
    }
  }
  if (options.reuse && options.columns == Columns::pilot) {
    for (const arma::uword i : rows) {
      for (arma::uword j = 0; j < n; ++j) expected(i, j) = b(i, j);
    }
  }
  return expected;
}

// The geometric mean adds d roundings of logits of size s; a weight is a quotient by a sum of n terms.
template <typename T>
double bound(const Problem<T>& problem, const Dense& expected, arma::uword d) {
  const double size = std::max(1.0, static_cast<double>(largest_entry_of(expected)));
  const auto n = static_cast<double>(problem.n());
  return size * (entry_error(problem) + 2 * (static_cast<double>(d) * largest_logit(problem) + n + 4) * unit<T>());
}

const std::vector<SkeinformerOptions>& variants() {
  static const std::vector<SkeinformerOptions> all = {
      {},
      {.leave_one = true},
      {.pilot_rows = 4},
      {.columns = Columns::uniform, .reuse = false},
      {.rows = Rows::simple},
      {.rows = Rows::weighted},
      {.rows = Rows::weighted, .reuse = false},
      {.columns = Columns::uniform, .rows = Rows::weighted, .reuse = false},
      {.rows = Rows::raw, .reuse = false, .leave_one = true},
      {.reuse = false},
  };
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("pilot_sample: weights are (sum_j b_ji^2)^(1/2) ||V_i|| over the drawn rows", T, float, double) {
  const Problem<T> problem = awkward_problem<T>(23, 5, 3, 3, Key(test_seed()).child("pilot"));
  const Pilot<T> pilot = pilot_sample(problem.Q(), problem.K(), problem.V(), 9, Key(2));
  const Dense b = scores_of(problem.Q(), problem.K(), Target::softmax);
  for (arma::uword i = 0; i < 23; ++i) {
    long double squares = 0, norm = 0;
    for (const arma::uword j : pilot.rows) squares += b(j, i) * b(j, i);
    for (arma::uword c = 0; c < 3; ++c) norm += static_cast<long double>(problem.V()(i, c)) * problem.V()(i, c);
    const long double expected = std::sqrt(squares * norm);
    // Roots and sums of squares: half of the relative errors, and (9 + 3 + 4) u.
    CHECK(std::fabs(static_cast<double>(static_cast<long double>(pilot.weights(i)) - expected)) <=
          (entry_error(problem) + 16 * unit<T>()) * static_cast<double>(expected));
  }
}

TEST_CASE_TEMPLATE("skeinformer and its ablations: every entry of B~ is that of the formula", T, float, double) {
  const Key draw_key = Key(test_seed()).child("formula");
  for (const SkeinformerOptions& options : variants()) {
    for (const arma::uword n : {1U, 2U, 30U}) {
      for (const arma::uword d : {1U, 7U, 30U}) {
        if (d > n) continue;
        CAPTURE(n);
        CAPTURE(d);
        for (const Problem<T>& problem : {random_problem<T>(n, 6, 4, 2, draw_key.child("plain"), 1),
                                          n > 5 ? awkward_problem<T>(n, 6, 4, 4, draw_key.child("awkward"))
                                                : random_problem<T>(n, 6, 4, 0, draw_key)}) {
          const Key draw = draw_key.child("draw").child(n).child(d);
          const Dense expected = expected_scores(problem, d, draw, options);
          const Approximation<T> approximation = skeinformer(problem, d, draw, options);
          check_scores(approximation, problem, expected, bound(problem, expected, d));
          const bool stochastic = options.rows == Rows::adaptive || options.rows == Rows::simple;
          if (stochastic) CHECK(row_sum_gap(approximation) <= 4 * static_cast<double>(n) * unit<T>());
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("skeinformer: exact for d = n, with every way of rows but the weighted one", T, float, double) {
  const Problem<T> problem = random_problem<T>(19, 4, 3, 3, Key(test_seed()).child("exact"));
  const Dense b = scores_of(problem.Q(), problem.K(), Target::softmax);
  for (const Rows rows : {Rows::adaptive, Rows::simple, Rows::raw}) {
    const Approximation<T> all = skeinformer(problem, 19, Key(1), {.rows = rows, .reuse = false});
    CHECK(distance(all.scores->dense(), b) <= bound(problem, b, 19));
  }
}

TEST_CASE_TEMPLATE("skeinformer and its ablations: norms of 100 are safe", T, float, double) {
  const Problem<T> huge = random_problem<T>(20, 8, 3, 100, Key(test_seed()).child("huge"));
  for (const SkeinformerOptions& options : variants()) CHECK(skeinformer(huge, 6, Key(1), options).output.is_finite());
}

TEST_CASE("skeinformer: preset code of the ablations re-uses nothing, and of no-norm has no weights") {
  const Problem<double> problem = random_problem<double>(25, 6, 4, 2, Key(test_seed()).child("preset"), 1);
  const auto run = [&](const char* name, std::map<std::string, std::string> options) {
    return method_on(problem, name, std::move(options)).approximate(9, Key(3)).output;
  };
  CHECK(identical(run("skeinformer", {}), skeinformer(problem, 9, Key(3)).output));
  CHECK(identical(run("skeinformer-no-reuse", {}), skeinformer(problem, 9, Key(3), {.reuse = false}).output));
  CHECK(identical(run("skeinformer-uniform", {}),
                  skeinformer(problem, 9, Key(3), {.columns = Columns::uniform, .reuse = false}).output));
  CHECK(identical(run("skeinformer-simple-norm", {}), skeinformer(problem, 9, Key(3), {.rows = Rows::simple}).output));
  CHECK(identical(run("skeinformer-simple-norm", {{"preset", "code"}}),
                  skeinformer(problem, 9, Key(3), {.rows = Rows::simple, .reuse = false}).output));
  CHECK(identical(run("skeinformer-no-norm", {}), skeinformer(problem, 9, Key(3), {.rows = Rows::weighted}).output));
  CHECK(identical(run("skeinformer-no-norm", {{"preset", "code"}}),
                  skeinformer(problem, 9, Key(3), {.rows = Rows::raw, .reuse = false}).output));
  CHECK(identical(run("skeinformer-no-norm", {{"preset", "code"}, {"weights", "unbiased"}, {"reuse", "yes"}}),
                  skeinformer(problem, 9, Key(3), {.rows = Rows::weighted}).output));
  CHECK(identical(run("skeinformer", {{"pilot", "3"}}), skeinformer(problem, 9, Key(3), {.pilot_rows = 3}).output));
}
