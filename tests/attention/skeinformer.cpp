#include <doctest/doctest.h>
#include <croquis/attention/skeinformer.hpp>
#include <croquis/measure/errors.hpp>
#include <croquis/random/indices.hpp>

#include <cmath>
#include <set>

#include "support/attention.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// Alg. 1 with the indices that the random keys say, in plain exponentials: moderate norms.
struct SkeinReference {
  arma::uvec pilot, columns;
  Dense scores;  // B~
  std::vector<long double> denominators;

  template <typename T>
  SkeinReference(const Problem<T>& problem, arma::uword d, arma::uword d_0, const Key& draw_key) {
    const arma::uword n = problem.n();
    const Dense s = logits_of(problem.Q(), problem.K()), b = softmax_of(s), v = problem.V();
    pilot = sample_with_replacement(n, d_0, draw_key.child("pilot"));
    arma::vec weights(n);
    for (arma::uword i = 0; i < n; ++i) {
      long double column = 0, value = 0;
      for (const arma::uword j : pilot) column += b(j, i) * b(j, i);
      for (arma::uword c = 0; c < v.cols; ++c) value += v(i, c) * v(i, c);
      weights(i) = static_cast<double>(std::sqrt(column) * std::sqrt(value));
    }
    columns = sample_weighted_without_replacement(weights, d, draw_key.child("columns"));

    const std::set<arma::uword> chosen(columns.begin(), columns.end()), exact(pilot.begin(), pilot.end());
    scores = Dense(n, n);
    for (arma::uword i = 0; i < n; ++i) {
      long double product = 1, sum = 0;
      for (const arma::uword k : columns) product *= std::pow(std::exp(s(i, k)), 1 / static_cast<long double>(d));
      for (arma::uword k = 0; k < n; ++k) {
        scores(i, k) = chosen.contains(k) ? std::exp(s(i, k)) : product;
        sum += scores(i, k);
      }
      for (arma::uword k = 0; k < n; ++k) scores(i, k) = exact.contains(i) ? b(i, k) : scores(i, k) / sum;
      denominators.push_back(sum);
    }
  }
};

// Largest error of an entry of B~ and, times max |v| n, of the output: as an entry of B; the geometric mean has the
// mean of d logits, 2 d s u more; the sum over columns outside J' is a difference of sums of n values, n u of the
// values' sum, of which each takes a weight of at most 1.
template <typename T>
double error_of(const Problem<T>& problem, arma::uword d) {
  const auto n = static_cast<double>(problem.n());
  const double s = largest_logit(problem);
  return softmax_error<T>(n, static_cast<double>(problem.p()), s) +
         (2 * static_cast<double>(d) * s + 3 * n) * unit<T>();
}

template <typename T>
double value_of(const Problem<T>& problem) {
  return static_cast<double>(problem.n()) * static_cast<double>(largest_entry_of(problem.V()));
}

SkeinformerOptions with_pilot(arma::uword rows) {
  SkeinformerOptions options;
  options.pilot_rows = rows;
  return options;
}

}  // namespace

TEST_CASE_TEMPLATE("skeinformer: is Alg. 1 for the indices drawn, pilot rows exact", T, float, double) {
  // Fixed random keys: the order of the exponential race depends on the last bits of the weights with probability 1e-6.
  const Problem<T> problem = random_problem<T>(30, 6, 3, 3, Key(21), 0.3);
  for (std::uint64_t t = 0; t < 4; ++t) {
    for (const arma::uword d : {1U, 5U, 12U, 29U}) {
      for (const arma::uword d_0 : {0U, 1U, 4U, 40U}) {  // 40 of 30 rows: some twice
        CAPTURE(d);
        CAPTURE(d_0);
        const Key draw_key = Key(22).child(t);
        const Approximation<T> approximation = skeinformer(problem, d, draw_key, with_pilot(d_0));
        const SkeinReference reference(problem, d, d_0 == 0 ? d : d_0, draw_key);
        const double error = error_of(problem, d);
        CHECK(distance(approximation.scores->dense(), reference.scores) <= error);
        CHECK(distance(approximation.output, reference.scores * problem.V()) <= error * value_of(problem));
        CHECK(interface_gap(approximation, problem) <= error * 30);
        for (arma::uword i = 0; i < 30; ++i) {
          const long double sum = approximation.denominators->values(i) *
                                  std::exp(static_cast<long double>(approximation.denominators->log_scale(i)));
          CHECK(std::abs(static_cast<double>(sum / reference.denominators[i]) - 1) <= error);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("skeinformer: rows of the scores are non-negative and sum to 1", T, float, double) {
  const Problem<T> problem = random_problem<T>(50, 6, 3, 4, Key(test_seed()).child("rows"));
  for (const arma::uword d : {1U, 20U, 50U}) {
    const Approximation<T> approximation = skeinformer(problem, d, Key(test_seed()));
    CHECK(row_sum_deviation(*approximation.scores) <= 50 * error_of(problem, d));
    CHECK(approximation.scores->dense().min() >=
          -static_cast<T>(3 * 50 * unit<T>()));  // a difference of sums may round below 0
  }
}

TEST_CASE_TEMPLATE("skeinformer: exact for d = n, whatever the pilot", T, float, double) {
  const Problem<T> problem = random_problem<T>(25, 6, 3, 3, Key(test_seed()).child("all"));
  const Dense b = softmax_of(logits_of(problem.Q(), problem.K()));
  for (const arma::uword d_0 : {0U, 1U, 60U}) {
    const Approximation<T> approximation = skeinformer(problem, 25, Key(test_seed()), with_pilot(d_0));
    CHECK(distance(approximation.output, b * problem.V()) <= error_of(problem, 25) * value_of(problem));
    CHECK(distance(approximation.scores->dense(), b) <= error_of(problem, 25));
  }
}

TEST_CASE_TEMPLATE("skeinformer: a constant added to a row of scores changes nothing but the row sum", T, float,
                   double) {
  // A vector c added to all keys adds q_i.c / sqrt(p) to row i. Fixed random keys, as above.
  const Problem<T> problem = random_problem<T>(30, 4, 3, 2, Key(23));
  arma::Mat<T> k = problem.K();
  k.each_row() += arma::Row<T>{T(2), T(-1), T(0.5), T(3)};
  const Problem<T> shifted(problem.Q(), k, problem.V());
  for (const arma::uword d : {3U, 10U}) {
    const Approximation<T> plain = skeinformer(problem, d, Key(24)), moved = skeinformer(shifted, d, Key(24));
    // The shifted keys round by u each, which is in the (p + 10) s u of the larger logits.
    const double bound = error_of(problem, d) + 2 * error_of(shifted, d);
    CHECK(distance(plain.output, moved.output) <= bound * value_of(problem));
    CHECK(distance(plain.scores->dense(), moved.scores->dense()) <= bound);
    for (arma::uword i = 0; i < 30; ++i) {
      const double shift =
          arma::dot(arma::conv_to<arma::rowvec>::from(problem.Q().row(i)), arma::rowvec{2, -1, 0.5, 3}) / 2;
      const double before = std::log(plain.denominators->values(i)) + plain.denominators->log_scale(i);
      const double after = std::log(moved.denominators->values(i)) + moved.denominators->log_scale(i);
      CHECK(std::abs(after - before - shift) <= bound);
    }
  }
}

TEST_CASE_TEMPLATE("skeinformer: logits of any size give no overflow and rows that sum to 1", T, float, double) {
  for (const double norm : {100.0, 1e4}) {
    const Problem<T> problem = random_problem<T>(60, 8, 2, norm, Key(test_seed()).child("huge"));
    for (const arma::uword d : {1U, 10U, 60U}) {
      const Approximation<T> approximation = skeinformer(problem, d, Key(test_seed()));
      CHECK(approximation.output.is_finite());
      // The rounding of the logits is the same in numerator and denominator: only the sums are left.
      CHECK(row_sum_deviation(*approximation.scores) <= 10 * 60 * unit<T>());
      CHECK(arma::abs(approximation.output).max() <= arma::abs(problem.V()).max() * T(1.001));
    }
  }
}

TEST_CASE_TEMPLATE("skeinformer: the transpose counts a pilot row that was drawn twice once", T, float, double) {
  // Six tokens and 20 pilot rows: each row is drawn more than once on average. A transpose that counted rows as often
  // as they were drawn would be off by whole entries.
  const Problem<T> problem = random_problem<T>(6, 4, 2, 2, Key(test_seed()).child("twice"));
  const Approximation<T> approximation = skeinformer(problem, 2, Key(test_seed()), with_pilot(20));
  CHECK(interface_gap(approximation, problem) <= 6 * error_of(problem, 2));
}

TEST_CASE_TEMPLATE("skeinformer: equal tokens give the mean of the values, and zero values zero", T, float, double) {
  const arma::Mat<T> x = arma::repmat(arma::Row<T>{T(1), T(-1)}, 12, 1), v = random_matrix<T>(12, 2, Key(test_seed()));
  const arma::Mat<T> zero(12, 2, arma::fill::zeros);
  for (const arma::uword d : {1U, 5U, 12U}) {
    const Problem<T> problem(x, x, v);
    CHECK(distance(skeinformer(problem, d, Key(test_seed())).output, arma::repmat(arma::mean(v, 0), 12, 1)) <=
          error_of(problem, d) * value_of(problem));
    CHECK(identical(skeinformer(Problem<T>(x, x, zero), d, Key(test_seed())).output, zero));
  }
}

TEST_CASE("skeinformer: d of 0 and beyond n are refused") {
  const Problem<double> problem = random_problem<double>(5, 3, 2, 1, Key(1));
  CHECK(refusal([&] { skeinformer(problem, 6, Key(1)); }) == "skeinformer: 1 <= d <= n_k, got d = 6, n_k = 5");
  CHECK(contains(refusal([&] { skeinformer(problem, 0, Key(1)); }), "got d = 0"));
}
