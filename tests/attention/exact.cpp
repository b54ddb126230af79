#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>

#include <cmath>
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/kernel/softmax_adjoint.hpp>
#include <limits>

#include "support/attention.hpp"
#include "support/capture.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr Target kExactTargets[] = {Target::softmax, Target::kernelized};
constexpr arma::uword kExactSizes[] = {1, 5, 257,
                                       700};  // one block, and past the 256 queries and the 512 keys of a block
constexpr TokenAlignment kExactShapes[] = {{1, 1},   {5, 5},   {257, 257}, {700, 700},
                                           {1, 600}, {5, 257}, {600, 1},   {257, 9}};

// Largest relative error of an entry of the score matrix.
template <typename T>
double exact_entry_error(const Problem<T>& problem, Target target) {
  const auto n = static_cast<double>(problem.n_k()), p = static_cast<double>(problem.p());
  return target == Target::softmax ? softmax_error<T>(n, p, largest_logit(problem))
                                   : gaussian_error<T>(p, largest_point(problem));
}

// Largest error of an entry of S X where S >= 0 is known to exact_entry_error: the sum over n keys rounds by n u more.
template <typename T>
double product_error(const Problem<T>& problem, Target target, const Dense& scores, const Dense& x) {
  return (exact_entry_error(problem, target) + static_cast<double>(scores.cols) * unit<T>()) * largest_row_sum(scores) *
         static_cast<double>(largest_entry_of(x));
}

}  // namespace

TEST_CASE_TEMPLATE("exact_attention: output and row sums are those of the definition, within and across blocks", T,
                   float, double) {
  for (const auto& [n_q, n] : kExactShapes) {
    CAPTURE_BINDING(n_q);
    CAPTURE_BINDING(n);
    const Problem<T> problem = random_rectangle<T>(n_q, n, 8, 3, 4, Key(test_seed()).child(n));
    for (const Target target : kExactTargets) {
      const ExactAttention<T> exact = exact_attention(problem, target);
      const Dense scores = scores_of(problem.Q(), problem.K(), target);
      CHECK(distance(exact.output, scores * problem.V()) <= product_error(problem, target, scores, problem.V()));

      // The sum is off by exact_entry_error and n u, its logarithm by as much and by u of its size.
      const auto log_sums =
          target == Target::softmax ? log_sums_of(logits_of(problem.Q(), problem.K())) : std::vector<long double>();
      for (arma::uword i = 0; i < n_q; ++i) {
        long double expected = 0;
        for (arma::uword j = 0; j < n; ++j) expected += scores(i, j);
        expected = target == Target::softmax ? log_sums[i] : std::log(expected);
        REQUIRE(std::abs(static_cast<double>(exact.log_row_sums(i) - expected)) <=
                exact_entry_error(problem, target) +
                    (static_cast<double>(n) + 4 * std::abs(static_cast<double>(expected))) * unit<T>());
      }
    }
  }
}

TEST_CASE_TEMPLATE("exact_scores: products with B, with C and with their transposes, within and across blocks", T,
                   float, double) {
  for (const auto& [n_q, n] : kExactShapes) {
    CAPTURE_BINDING(n_q);
    CAPTURE_BINDING(n);
    const Key draw_key = Key(test_seed()).child("scores").child(n);
    const Problem<T> problem = random_rectangle<T>(n_q, n, 8, 3, 4, draw_key);
    for (const Target target : kExactTargets) {
      const LinearOperator<T> op = exact_scores(problem, target);
      const Dense scores = scores_of(problem.Q(), problem.K(), target);
      CHECK(op.rows == n_q);
      CHECK(op.cols == n);
      for (const arma::uword columns : {1U, 4U}) {
        const arma::Mat<T> x = random_matrix<T>(n, columns, draw_key.child(columns)),
                           y = random_matrix<T>(n_q, columns, draw_key.child(columns));
        CHECK(distance(op.apply(x), scores * x) <= product_error(problem, target, scores, x));
        CHECK(distance(op.apply_transposed(y), transposed(scores) * y) <=
              product_error(problem, target, transposed(scores), y));
      }
      if (n_q <= 257 && n <= 257) {
        CHECK(distance(op.dense(), scores) <= exact_entry_error(problem, target));
        CHECK(distance(op.apply_transposed(arma::Mat<T>(n_q, n_q, arma::fill::eye)), transposed(scores)) <=
              exact_entry_error(problem, target));
      }
    }
  }
}

TEST_CASE_TEMPLATE("exact attention: padding gives the truncated problem, to the bit, whatever the padding holds", T,
                   float, double) {
  const Key draw_key = Key(test_seed()).child("padding");
  const arma::Mat<T> q = random_matrix<T>(600, 6, draw_key.child("q")),
                     k = random_matrix<T>(600, 6, draw_key.child("k")),
                     v = random_matrix<T>(600, 2, draw_key.child("v"));
  const arma::uword m = 517;
  arma::Mat<T> loud = k;
  loud.tail_rows(600 - m) *= T(50);  // would win every softmax
  const Problem<T> cut(q.head_rows(m), k.head_rows(m), v.head_rows(m)), padded(q, loud, v, m);
  for (const Target target : kExactTargets) {
    const ExactAttention<T> expected = exact_attention(cut, target), exact = exact_attention(padded, target);
    CHECK(identical(exact.output, expected.output));
    CHECK(identical(exact.log_row_sums, expected.log_row_sums));
    const arma::Mat<T> full = padded.padded(exact.output);
    CHECK(arma::size(full) == arma::SizeMat(600, 2));
    CHECK(arma::accu(full.tail_rows(600 - m) != 0) == 0);
  }
}

TEST_CASE_TEMPLATE("exact attention: queries and keys of norm 100 and 10,000 give no NaN", T, float, double) {
  for (const double norm : {100.0, 1e4}) {
    CAPTURE(norm);
    const Problem<T> problem = random_problem<T>(600, 8, 2, norm, Key(test_seed()).child("huge"));
    const arma::Mat<T> ones(600, 1, arma::fill::ones);
    for (const Target target : kExactTargets) {
      const ExactAttention<T> exact = exact_attention(problem, target);
      const LinearOperator<T> op = exact_scores(problem, target);
      CHECK(exact.output.is_finite());
      CHECK_FALSE(exact.log_row_sums.has_nan());
      CHECK(exact.log_row_sums.max() < std::numeric_limits<T>::infinity());
      CHECK(op.apply_transposed(ones).is_finite());
      const arma::Mat<T> sums = op.apply(ones);
      CHECK(sums.is_finite());
      if (target == Target::softmax) {
        // Sums of the same 600 terms, in two orders; and an output is a mean of values.
        CHECK(distance(sums, ones) <= 2 * (600 + 10) * unit<T>());
        for (arma::uword c = 0; c < 2; ++c) {
          CHECK(exact.output.col(c).max() <= problem.V().col(c).max() + 1e-3);
          CHECK(exact.output.col(c).min() >= problem.V().col(c).min() - 1e-3);
        }
      } else {
        CHECK(sums.max() <= T(600));
      }
      if (std::is_same_v<T, double>) {  // where the exponents keep enough digits to say more
        const Dense scores = scores_of(problem.Q(), problem.K(), target);
        CHECK(distance(exact.output, scores * problem.V()) <= product_error(problem, target, scores, problem.V()));
      }
    }
  }
}

// Two equal keys share a row, and the logarithm of 2 is lost beside their score. Scores of p = 1 are exact.
TEST_CASE_TEMPLATE("exact attention: equal keys share a row in B, B^T and the gradient, however large their scores", T,
                   float, double) {
  const arma::uword n = 70;
  const arma::Mat<T> v = random_matrix<T>(4, 3, Key(test_seed()).child("v")),
                     cotangent = random_matrix<T>(n, 3, Key(test_seed()).child("cotangent"));
  const arma::Mat<T> b = arma::repmat(arma::Row<T>{T(0.5), 0, 0, T(0.5)}, n, 1);
  for (const int power : {4, 12, 50, 100}) {
    CAPTURE(power);
    const T score = std::ldexp(T(1), power);
    const arma::Mat<T> q(n, 1, arma::fill::value(std::ldexp(T(1), power / 2))),
        k = arma::Col<T>{1, -100, -200, 1} * (score / q(0));
    const Problem<T> problem(q, k, v);
    const LinearOperator<T> op = exact_scores(problem, Target::softmax);
    CHECK(identical(op.apply(arma::Mat<T>(4, 4, arma::fill::eye)), b));
    CHECK(identical(op.apply_transposed(arma::Mat<T>(n, n, arma::fill::eye)), arma::Mat<T>(b.t())));
    const Gradient<T> gradient =
        exact_gradient(problem, Target::softmax, exact_attention(problem, Target::softmax), cotangent);
    const SoftmaxAdjoint<T> adjoint = softmax_adjoint(q, k, v, cotangent);
    const Dense expected = transposed(Dense(b)) * Dense(cotangent);
    CHECK(distance(gradient.v, expected) <= n * unit<T>() * arma::norm(cotangent, "fro"));
    CHECK(distance(adjoint.x, expected) <= n * unit<T>() * arma::norm(cotangent, "fro"));
  }
}

TEST_CASE_TEMPLATE("exact attention: kernelized rows that underflow are zero with a log sum of -inf", T, float,
                   double) {
  const arma::Mat<T> q(3, 1, arma::fill::value(T(1e3))), k(3, 1, arma::fill::value(T(-1e3))), v(3, 2, arma::fill::ones);
  const ExactAttention<T> exact = exact_attention(Problem<T>(q, k, v), Target::kernelized);
  CHECK(identical(exact.output, arma::Mat<T>(3, 2, arma::fill::zeros)));
  CHECK(arma::all(exact.log_row_sums == -std::numeric_limits<T>::infinity()));
}

TEST_CASE_TEMPLATE("exact attention: rows of B sum to 1", T, float, double) {
  for (const arma::uword n : kExactSizes) {
    const Problem<T> problem = random_problem<T>(n, 8, 1, 6, Key(test_seed()).child("sums"));
    const arma::Mat<T> ones(n, 1, arma::fill::ones);
    CHECK(distance(exact_scores(problem, Target::softmax).apply(ones), ones) <=
          2 * (static_cast<double>(n) + 10) * unit<T>());
  }
}

TEST_CASE_TEMPLATE("exact attention: a constant added to all keys changes the row sums alone", T, float, double) {
  // q_i.(k_j + c): every row of scores is shifted by q_i.c, which softmax does not see.
  const Problem<T> problem = random_problem<T>(40, 4, 3, 2, Key(test_seed()).child("shift"));
  arma::Mat<T> k = problem.K();
  k.each_row() += arma::Row<T>{T(3), T(-2), T(1), T(5)};
  const Problem<T> shifted(problem.Q(), k, problem.V());
  const Dense scores = scores_of(problem.Q(), problem.K(), Target::softmax);
  CHECK(distance(exact_attention(shifted, Target::softmax).output, exact_attention(problem, Target::softmax).output) <=
        product_error(problem, Target::softmax, scores, problem.V()) +
            2 * product_error(shifted, Target::softmax, scores, problem.V()));
}

TEST_CASE_TEMPLATE("exact attention: the same bits for any number of threads, also inside a parallel loop", T, float,
                   double) {
  const Problem<T> problem = random_problem<T>(700, 64, 64, 8, Key(test_seed()).child("threads"));
  for (const Target target : kExactTargets) {
    const ThreadCount one(1);
    const ExactAttention<T> expected = exact_attention(problem, target);
    const LinearOperator<T> op = exact_scores(problem, target);
    const arma::Mat<T> product = op.apply(problem.V()), transpose = op.apply_transposed(problem.V());
    // Of one column BLAS may take another path.
    const arma::Mat<T> first = problem.V().col(0), column = op.apply(first),
                       column_transpose = op.apply_transposed(first);
    const auto same = [&] {
      const ExactAttention<T> exact = exact_attention(problem, target);
      return identical(exact.output, expected.output) && identical(exact.log_row_sums, expected.log_row_sums) &&
             identical(op.apply(problem.V()), product) && identical(op.apply_transposed(problem.V()), transpose) &&
             identical(op.apply(first), column) && identical(op.apply_transposed(first), column_transpose);
    };
    for (const int team : {1, 2, 4}) {
      const ThreadCount count(team);
      CHECK(same());
      std::vector<int> inside(2);
      parallel_for(2, [&](std::size_t i) { inside[i] = same(); });
      CHECK(inside[0] == 1);
      CHECK(inside[1] == 1);
    }
  }
}
