#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/score_matrices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/nystrom/lift.hpp>
#include <limits>
#include <string_view>

namespace croquis {
namespace {

// Row sums with Q times one factor and K times another; they do not ask for values.
RowSums<double> row_sums(const Problem<double>& problem, double of_q, double of_k, Target target) {
  return exact_attention(
             Problem<double>(of_q * problem.Q(), of_k * problem.K(), arma::mat(problem.n_k(), 1, arma::fill::zeros), {},
                             position_of(problem, target)),
             target)
      .row_sums;
}

// Q K^T / sqrt(p) of queries first ... last, transposed; what is masked is so low that its exponential is 0.
template <typename T>
arma::Mat<T> masked_scores_transposed(const Problem<T>& problem, arma::uword first, arma::uword last) {
  arma::Mat<T> scores = scores_transposed<T>(problem.Q().rows(first, last), problem.K());
  if (!problem.is_causal()) return scores;
  for (arma::uword c = 0; c < scores.n_cols; ++c) {
    const arma::uword keys = problem.tokens().causal_keys(first + c);
    std::fill(scores.begin_col(c) + keys, scores.end_col(c), std::numeric_limits<T>::lowest() / 8);
  }
  return scores;
}

// C for queries first ... last.
arma::mat kernelized_rows(const Problem<double>& problem, const LiftedPoints<double>& lift, arma::uword first,
                          arma::uword last) {
  const arma::mat queries = problem.Q().rows(first, last);
  arma::mat c = gaussian_kernel(lift.centred(queries), lift.centred_keys());
  for (arma::uword i = 0; problem.is_causal() && i < c.n_rows; ++i) {
    const arma::uword keys = problem.tokens().causal_keys(first + i);
    if (keys < c.n_cols) c.row(i).tail(c.n_cols - keys).zeros();
  }
  return c;
}

// ||C||_F where squares of entries underflow and the entries themselves do not.
double norm_of_small_entries(const Problem<double>& problem) {
  constexpr arma::uword kQueries = 64;  // at once; C is not stored
  const LiftedPoints<double> lift(problem.Q(), problem.K());
  arma::vec norms(problem.n_q() / kQueries + 1, arma::fill::zeros);
  for (arma::uword first = 0; first < problem.n_q(); first += kQueries) {
    const arma::uword last = std::min(first + kQueries, problem.n_q()) - 1;
    norms(first / kQueries) = frobenius_norm(kernelized_rows(problem, lift, first, last));
  }
  return frobenius_norm(norms);
}

// Throws std::invalid_argument unless there is memory for so many n_q x n_k matrices.
template <typename T>
void require_stored(const Problem<T>& problem, double copies, std::string_view where) {
  require_memory(copies * sizeof(T) * static_cast<double>(problem.n_q()) * static_cast<double>(problem.n_k()), where,
                 {{"n_q", problem.n_q()}, {"n_k", problem.n_k()}});
}

}  // namespace

double largest_log_score(const Problem<double>& problem) {
  return row_sums(problem, 1, 1, Target::softmax).maxima.max();
}

ScoreOperator score_operator(const Problem<double>& problem, ScoreMatrix which) {
  if (which == ScoreMatrix::kernelized) {
    const double root_two = std::sqrt(2.0);
    const double square = arma::accu(row_sums(problem, root_two, root_two, Target::kernelized).sums);
    // A square below min, the smallest normal number, may be lost: n_q n_k of them are to be nothing beside the sum.
    const double least = std::numeric_limits<double>::min() / std::numeric_limits<double>::epsilon() *
                         static_cast<double>(problem.n_q()) * static_cast<double>(problem.n_k());
    const double norm = square > least ? std::sqrt(square) : norm_of_small_entries(problem);
    return {exact_scores(problem, Target::kernelized), 0, norm};
  }
  // Twice a score has no rounding of its own, however large it is. So the maximum of a row of squares is the square of
  // the maximum, and what is left are sums of numbers between 0 and 1.
  const RowSums<double> rows = row_sums(problem, 1, 1, Target::softmax);
  const arma::vec squares = row_sums(problem, 2, 1, Target::softmax).sums;
  const LinearOperator<double> softmax = exact_scores(problem, Target::softmax);
  if (which == ScoreMatrix::softmax) {
    return {softmax, 0, std::sqrt(arma::accu(squares / arma::square(rows.sums)))};
  }
  const double top = rows.maxima.max();
  const arma::vec largest = arma::exp(rows.maxima - top);  // of the rows of A / max A
  const arma::vec scale = largest % rows.sums;             // their sums
  return {{problem.n_q(), problem.n_k(),
           [softmax, scale](const arma::mat& x) -> arma::mat {
             arma::mat y = softmax.apply(x);
             y.each_col() %= scale;
             return y;
           },
           [softmax, scale](const arma::mat& x) -> arma::mat {
             arma::mat scaled = x;
             scaled.each_col() %= scale;
             return softmax.apply_transposed(scaled);
           }},
          top,
          std::sqrt(arma::accu(arma::square(largest) % squares))};
}

template <typename T>
arma::Mat<T> transposed_softmax(const Problem<T>& problem) {
  require_stored<T>(problem, 1, "transposed_softmax");
  arma::Mat<T> scores = masked_scores_transposed(problem, 0, problem.n_q() - 1);
  softmax_columns(scores);
  return scores;
}

arma::mat score_matrix(const Problem<double>& problem, ScoreMatrix which) {
  require_stored(problem, 2, "score_matrix");  // itself, and what it is made of
  if (which == ScoreMatrix::kernelized) {
    return kernelized_rows(problem, LiftedPoints<double>(problem.Q(), problem.K()), 0, problem.n_q() - 1);
  }
  if (which == ScoreMatrix::softmax) return transposed_softmax(problem).t();
  const arma::mat scores = masked_scores_transposed(problem, 0, problem.n_q() - 1).t();
  return arma::exp(scores - scores.max());
}

template arma::Mat<float> transposed_softmax(const Problem<float>&);
template arma::Mat<double> transposed_softmax(const Problem<double>&);

}  // namespace croquis
