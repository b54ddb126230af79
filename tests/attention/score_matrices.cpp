#include <doctest/doctest.h>
#include <croquis/attention/score_matrices.hpp>

#include <cmath>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

// A / max A, B or C entry by entry, in long double.
Dense reference(const Problem<double>& problem, ScoreMatrix which) {
  const Dense q = problem.Q(), k = problem.K();
  const long double root = std::sqrt(static_cast<long double>(q.cols));
  Dense s(q.rows, k.rows);
  long double top = -1e300L;
  for (arma::uword i = 0; i < q.rows; ++i) {
    for (arma::uword j = 0; j < k.rows; ++j) {
      for (arma::uword c = 0; c < q.cols; ++c) {
        const long double gap = q(i, c) - k(j, c);
        s(i, j) += which == ScoreMatrix::kernelized ? -gap * gap / (2 * root) : q(i, c) * k(j, c) / root;
      }
      top = std::max(top, s(i, j));
    }
  }
  if (which == ScoreMatrix::kernelized) top = 0;
  for (arma::uword i = 0; i < q.rows; ++i) {
    long double sum = 0;
    for (arma::uword j = 0; j < k.rows; ++j) sum += s(i, j) = std::exp(s(i, j) - top);
    for (arma::uword j = 0; j < k.rows && which == ScoreMatrix::softmax; ++j) s(i, j) /= sum;
  }
  return s;
}

}  // namespace

TEST_CASE("score matrices: stored and as operators they are A / max A, B and C, with their Frobenius norms") {
  const Key draw_key = Key(test_seed()).child("scores");
  for (const double norm : {1.0, 4.0, 60.0}) {
    const Problem<double> problem =
        random_problem<double>(70, 9, 2, norm, draw_key.child(static_cast<std::uint64_t>(norm)));
    for (const ScoreMatrix which : {ScoreMatrix::raw, ScoreMatrix::softmax, ScoreMatrix::kernelized}) {
      CAPTURE(static_cast<int>(which));
      CAPTURE(norm);
      const Dense exact = reference(problem, which);
      // Log-scores are off by some p u max |q| |k| / sqrt(p), which is the relative error of an entry; at norm 60 they
      // reach some 2500, where A itself would overflow.
      const double largest = 4 * norm * norm / 3, error = 20 * 9 * (1 + largest) * unit<double>();
      const ScoreOperator scores = score_operator(problem, which);
      CHECK(distance(score_matrix(problem, which), exact) <= error);
      CHECK(distance(scores.matrix.dense(), exact) <= error);
      const arma::mat x = random_matrix(70, 3, draw_key.child("x"));
      CHECK(distance(scores.matrix.apply_transposed(x), transposed(exact) * Dense(x)) <= 70 * 5 * error);
      CHECK(std::abs(scores.frobenius - static_cast<double>(frobenius(exact))) <=
            error * static_cast<double>(frobenius(exact)));
      if (which != ScoreMatrix::raw) CHECK(scores.log_scale == 0);
    }
    const double top = (problem.Q() * problem.K().t()).max() / 3;
    CHECK(std::abs(largest_log_score(problem) - top) <= 20 * 9 * unit<double>() * norm * norm);
    CHECK(score_operator(problem, ScoreMatrix::raw).log_scale == largest_log_score(problem));
  }
}

// Every query has the same weight at the two equal keys and none at the third one. Scores of p = 1 are exact.
TEST_CASE("score matrices: norms and entries at most 1, however large scores are") {
  for (const double size : {8.0, 3e4, 1.1e8, 0.7e70}) {
    CAPTURE(size);
    const arma::mat q = size * arma::vec{0.9, 0.3, 1}, k = size * arma::vec{1.7, 0.1, 1.7};
    const Problem<double> problem(q, k, arma::ones(3, 1));
    const ScoreOperator a = score_operator(problem, ScoreMatrix::raw),
                        b = score_operator(problem, ScoreMatrix::softmax);
    const arma::mat half = {{0.5, 0, 0.5}, {0.5, 0, 0.5}, {0.5, 0, 0.5}}, top = {{0, 0, 0}, {0, 0, 0}, {1, 0, 1}};
    CHECK(arma::abs(b.matrix.dense() - half).max() <= 1e-13);
    CHECK(arma::abs(a.matrix.dense() - top).max() <= 1e-4);  // e^-10.9 for a size of 8, less for others
    CHECK(b.frobenius == doctest::Approx(std::sqrt(1.5)).epsilon(1e-13));
    CHECK(a.frobenius == doctest::Approx(std::sqrt(2)).epsilon(1e-8));
    CHECK(a.log_scale == largest_log_score(problem));
  }
}

// Scores of C of about e^-437, whose squares are below all numbers, in more than one block of queries.
TEST_CASE("score matrices: the Frobenius norm of C where the squares of its entries underflow") {
  const Key draw_key = Key(test_seed()).child("small");
  arma::mat q = random_matrix(150, 2, draw_key.child("q")), k = random_matrix(160, 2, draw_key.child("k"));
  for (arma::mat* points : {&q, &k}) *points *= 0.2 / arma::abs(*points).max();
  k.col(0) += 35;
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    const Problem<double> problem(q, k, arma::ones(160, 1), {}, {.bias = {}, .causal = causal});
    Dense exact = reference(problem, ScoreMatrix::kernelized);
    for (arma::uword i = 0; causal && i < 150; ++i) {
      for (arma::uword j = i + 11; j < 160; ++j) exact(i, j) = 0;
    }
    const auto expected = static_cast<double>(frobenius(exact));
    REQUIRE(expected < 1e-180);
    // An entry is off by some p u max |x|^2 / 2 of itself.
    CHECK(std::abs(score_operator(problem, ScoreMatrix::kernelized).frobenius / expected - 1) <=
          20 * 2 * 450 * unit<double>());
  }
}

TEST_CASE("largest_log_score: whichever block of queries has it") {
  const Problem<double> problem = random_problem<double>(600, 4, 1, 2, Key(test_seed()).child("largest"));
  for (const arma::uword at : {0, 255, 256, 511, 512, 599}) {
    CAPTURE(at);
    arma::mat q = problem.Q();
    q.row(at) = 1000 * problem.K().row(17);  // beyond all others
    const double top = (q * problem.K().t()).max() / 2;
    REQUIRE((q * problem.K().t()).index_max() % 600 == at);
    CHECK(std::abs(largest_log_score(Problem<double>(q, problem.K(), problem.V())) - top) <=
          20 * 4 * unit<double>() * largest_row(q) * largest_row(problem.K()));
  }
}

TEST_CASE("score matrices: the same bits for any number of threads") {
  const Problem<double> problem = random_problem<double>(600, 4, 1, 2, Key(test_seed()).child("threads"));
  const arma::mat x = random_matrix(600, 2, Key(3));
  arma::mat first;
  for (const int threads : {1, 3}) {
    const ThreadCount count(threads);
    const arma::mat y = score_operator(problem, ScoreMatrix::raw).matrix.apply(x);
    if (threads == 1) first = y;
    CHECK(identical(y, first));
  }
}
