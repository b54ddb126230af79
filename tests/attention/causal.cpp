// Causal attention of every target: against the definition, pair by pair, where a query attends to itself and what is
// before it.
#include <doctest/doctest.h>
#include <croquis/attention/best_rank.hpp>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/score_matrices.hpp>
#include <croquis/attention/v_mean.hpp>

#include <cmath>
#include <limits>

#include "support/attention.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/relative.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr long double kMasked = -std::numeric_limits<long double>::infinity();

// The position of a causal problem without a bias.
template <typename T>
RelativePosition<T> causal_position() {
  return {.bias = {}, .causal = true};
}

bool attends(arma::uword i, arma::uword j, arma::uword n_q, arma::uword n_k) {
  return j + n_q <= i + n_k;
}

// B, or C, with nothing above the diagonal of the last tokens.
template <typename T>
Dense causal_scores(const Problem<T>& problem, Target target) {
  Dense scores(problem.n_q(), problem.n_k());
  if (target == Target::kernelized) {
    const long double scale = std::pow(static_cast<long double>(problem.p()), -0.25L);
    scores = gaussian_of(scale * Dense(problem.Q()), scale * Dense(problem.K()));
  } else {
    const Problem<T> plain(problem.Q(), problem.K(), problem.V());
    scores = relative_logits(plain, has_unit_rows(target));
  }
  for (arma::uword i = 0; i < scores.rows; ++i) {
    for (arma::uword j = 0; j < scores.cols; ++j) {
      if (!attends(i, j, scores.rows, scores.cols)) scores(i, j) = target == Target::kernelized ? 0 : kMasked;
    }
  }
  return target == Target::kernelized ? scores : softmax_of(scores);
}

template <typename T>
double causal_entry_error(const Problem<T>& problem, Target target) {
  const auto p = static_cast<double>(problem.p()), n = static_cast<double>(problem.n_k());
  if (target == Target::kernelized) return gaussian_error<T>(p, largest_point(problem));
  return 2 * softmax_error<T>(n, p, has_unit_rows(target) ? 1 : largest_logit(problem));
}

template <typename T>
void check_causal(const Problem<T>& problem) {
  const auto n = static_cast<double>(std::max(problem.n_q(), problem.n_k()));
  for (const Target target : {Target::softmax, Target::kernelized, Target::normalized}) {
    CAPTURE(name_of(target));
    const Dense scores = causal_scores(problem, target);
    const double size = causal_entry_error(problem, target) + n * unit<T>(), sum = largest_row_sum(scores);
    const ExactAttention<T> exact = exact_attention(problem, target);
    CHECK(distance(exact.output, scores * problem.V()) <=
          size * sum * static_cast<double>(largest_entry_of(problem.V())));
    const LinearOperator<T> op = exact_scores(problem, target);
    const arma::Mat<T> y = random_matrix<T>(problem.n_q(), 2, Key(8));
    CHECK(distance(op.apply_transposed(y), transposed(scores) * y) <=
          2 * size * static_cast<double>(largest_entry_of(y)) * largest_row_sum(transposed(scores)));
    const arma::uvec rows = {0, problem.n_q() / 2, problem.n_q() - 1};
    const arma::uvec some = arma::unique(rows);
    CHECK(distance(exact_attention_rows(problem, target, some).output, exact.output.rows(some)) <=
          2 * size * sum * static_cast<double>(largest_entry_of(problem.V())));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("causal attention: output, rows and products of all targets are those of the definition", T, float,
                   double) {
  for (const arma::uword n : {1U, 5U, 257U, 700U}) {
    CAPTURE(n);
    const Key draw_key = Key(test_seed()).child(n);
    const Problem<T> plain = random_problem<T>(n, 8, 3, 3, draw_key);
    check_causal(Problem<T>(plain.Q(), plain.K(), plain.V(), {}, causal_position<T>()));
    // A bias is nothing to these targets.
    const RelativePosition<T> bias = random_position<T>(n, 1, true, 2, draw_key.child("bias"), false);
    const Problem<T> biased(plain.Q(), plain.K(), plain.V(), {}, bias);
    check_causal(biased);
  }
  for (const auto& [n_q, n_k] : {std::pair<arma::uword, arma::uword>{1, 9}, {40, 600}, {130, 257}}) {
    check_causal(random_rectangle<T>(n_q, n_k, 8, 3, 3, Key(test_seed()).child(n_q), causal_position<T>()));
  }
}

TEST_CASE_TEMPLATE("causal attention: what comes after a query is nothing to its row, however large", T, float,
                   double) {
  const Problem<T> plain = random_problem<T>(600, 8, 3, 3, Key(test_seed()).child("later"));
  arma::Mat<T> k = plain.K(), v = plain.V();
  k.tail_rows(100) *= T(1000);
  v.tail_rows(100) += T(1000);
  const Problem<T> first(plain.Q(), plain.K(), plain.V(), {}, causal_position<T>());
  const Problem<T> other(plain.Q(), k, v, {}, causal_position<T>());
  for (const Target target : {Target::softmax, Target::normalized, Target::softmax_rpe, Target::normalized_rpe}) {
    CHECK(identical(arma::Mat<T>(exact_attention(other, target).output.head_rows(500)),
                    arma::Mat<T>(exact_attention(first, target).output.head_rows(500))));
  }
}

TEST_CASE_TEMPLATE("causal v-mean: row i is the mean of the values up to i, and its operator is linear in V", T, float,
                   double) {
  for (const auto& [n_q, n_k] : {std::pair<arma::uword, arma::uword>{1, 1}, {9, 9}, {300, 300}, {3, 50}}) {
    const Problem<T> problem =
        random_rectangle<T>(n_q, n_k, 4, 3, 2, Key(test_seed()).child(n_k), causal_position<T>());
    const Approximation<T> approximation = v_mean(problem);
    Dense mean(n_q, 3);
    for (arma::uword i = 0; i < n_q; ++i) {
      for (arma::uword c = 0; c < 3; ++c) {
        long double sum = 0;
        long double count = 0;
        for (arma::uword j = 0; j < n_k; ++j) {
          if (!attends(i, j, n_q, n_k)) continue;
          sum += static_cast<long double>(problem.V()(j, c));
          ++count;
        }
        mean(i, c) = sum / count;
      }
    }
    // Sums in double, rounded once.
    const double bound = (static_cast<double>(n_k) + 1) * unit<double>() + 2 * unit<T>();
    CHECK(distance(approximation.output, mean) <= bound * static_cast<double>(largest_entry_of(problem.V())));
    CHECK(interface_gap(approximation, problem) <= 2 * (static_cast<double>(n_k) + 1) * unit<T>());
  }
}

TEST_CASE_TEMPLATE("causal best-rank-d: the singular values and the truncation are those of the causal B", T, float,
                   double) {
  const Problem<T> plain = random_problem<T>(40, 8, 3, 4, Key(test_seed()).child("best"));
  const Problem<T> problem(plain.Q(), plain.K(), plain.V(), {}, causal_position<T>());
  const Dense scores = causal_scores(problem, Target::softmax);
  arma::mat b(40, 40);
  for (arma::uword i = 0; i < 40; ++i) {
    for (arma::uword j = 0; j < 40; ++j) b(i, j) = static_cast<double>(scores(i, j));
  }
  const arma::vec values = arma::svd(b);
  const BestRank<T> best(problem);
  CHECK(distance(best.singular_values(), values) <= 1e3 * unit<T>());
  // Eckart-Young: the error in spectral norm is the next singular value.
  for (const arma::uword d : {1U, 7U, 20U}) {
    const Dense near = best.approximate(d).scores->dense();
    arma::mat error(40, 40);
    for (arma::uword i = 0; i < 40; ++i) {
      for (arma::uword j = 0; j < 40; ++j) error(i, j) = b(i, j) - static_cast<double>(near(i, j));
    }
    CHECK(std::abs(arma::norm(error, 2) - values(d)) <= 1e3 * unit<T>());
  }
}

TEST_CASE("causal score matrices: stored and as operators they have nothing above the diagonal") {
  for (const double norm : {1.0, 40.0}) {
    const Problem<double> plain = random_problem<double>(70, 9, 2, norm, Key(test_seed()).child("matrices"));
    const Problem<double> problem(plain.Q(), plain.K(), plain.V(), {}, causal_position<double>());
    const double error = 20 * 9 * (1 + 4 * norm * norm / 3) * unit<double>();
    for (const ScoreMatrix which : {ScoreMatrix::softmax, ScoreMatrix::kernelized}) {
      const Dense exact = causal_scores(problem, which == ScoreMatrix::softmax ? Target::softmax : Target::kernelized);
      CHECK(distance(score_matrix(problem, which), exact) <= error);
      const ScoreOperator scores = score_operator(problem, which);
      CHECK(distance(scores.matrix.dense(), exact) <= error);
      CHECK(std::abs(scores.frobenius - static_cast<double>(frobenius(exact))) <= 70 * error);
    }
    // A over its largest entry that is not masked.
    arma::mat logits = arma::trimatl(problem.Q() * problem.K().t() / 3);
    double top = -1e300;
    for (arma::uword i = 0; i < 70; ++i) {
      for (arma::uword j = 0; j <= i; ++j) top = std::max(top, logits(i, j));
    }
    CHECK(std::abs(largest_log_score(problem) - top) <= error);
    const arma::mat a = arma::trimatl(arma::mat(arma::exp(logits - top)));
    CHECK(distance(score_matrix(problem, ScoreMatrix::raw), a) <= error);
    CHECK(distance(score_operator(problem, ScoreMatrix::raw).matrix.dense(), a) <= 70 * error);
  }
}

TEST_CASE("causal attention: a method without a causal form is refused, and those that have one are named") {
  const Problem<double> plain = random_problem<double>(12, 4, 2, 2, Key(1));
  const Problem<double> problem(plain.Q(), plain.K(), plain.V(), {}, causal_position<double>());
  for (const Method<double>& method : methods<double>()) {
    CAPTURE(method.name);
    if (method.causal) {
      CHECK_NOTHROW(prepare(method, problem));
      continue;
    }
    const std::string message = refusal([&] { prepare(method, problem); });
    CHECK(contains(message, method.name + ": has no causal form; methods that have one are"));
    CHECK(contains(message, " v-mean"));
    CHECK(contains(message, " prf-rpe"));
  }
}
