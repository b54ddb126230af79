#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/score_matrices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/nystrom/lift.hpp>
#include <limits>
#include <string_view>
#include <vector>

namespace croquis {
namespace {

constexpr arma::uword kBlock = 256;

// With Q and K times `factor`; the row sums do not ask for values.
arma::vec log_row_sums(const Problem<double>& problem, double factor, Target target) {
  return exact_attention(
             Problem<double>(factor * problem.Q(), factor * problem.K(), arma::mat(problem.n_k(), 1, arma::fill::zeros),
                             {}, position_of(problem, target)),
             target)
      .log_row_sums;
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

// Throws std::invalid_argument unless there is memory for so many n_q x n_k matrices.
template <typename T>
void require_stored(const Problem<T>& problem, double copies, std::string_view where) {
  require_memory(copies * sizeof(T) * static_cast<double>(problem.n_q()) * static_cast<double>(problem.n_k()), where,
                 {{"n_q", problem.n_q()}, {"n_k", problem.n_k()}});
}

}  // namespace

double largest_log_score(const Problem<double>& problem) {
  const arma::uword n = problem.n_q(), blocks = (n + kBlock - 1) / kBlock;
  std::vector<double> largest(blocks);
  parallel_for(blocks, [&](std::size_t b) {
    const arma::uword first = b * kBlock, last = std::min(n, first + kBlock) - 1;
    largest[b] = masked_scores_transposed(problem, first, last).max();
  });
  return *std::max_element(largest.begin(), largest.end());
}

ScoreOperator score_operator(const Problem<double>& problem, ScoreMatrix which) {
  const double root_two = std::sqrt(2.0);
  if (which == ScoreMatrix::kernelized) {
    const arma::vec squares = log_row_sums(problem, root_two, Target::kernelized);
    return {exact_scores(problem, Target::kernelized), 0, std::sqrt(arma::accu(arma::exp(squares)))};
  }
  const arma::vec sums = log_row_sums(problem, 1, Target::softmax);
  const arma::vec squares = log_row_sums(problem, root_two, Target::softmax);
  const LinearOperator<double> softmax = exact_scores(problem, Target::softmax);
  if (which == ScoreMatrix::softmax) {
    return {softmax, 0, std::sqrt(arma::accu(arma::exp(squares - 2 * sums)))};
  }
  const double top = largest_log_score(problem);
  const arma::vec scale = arma::exp(sums - top);  // the row sums of A / max A
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
          std::sqrt(arma::accu(arma::exp(squares - 2 * top)))};
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
    const LiftedPoints<double> lift(problem.Q(), problem.K());
    arma::mat c = gaussian_kernel(lift.centred_queries(), lift.centred_keys());
    for (arma::uword i = 0; problem.is_causal() && i < c.n_rows; ++i) {
      const arma::uword keys = problem.tokens().causal_keys(i);
      if (keys < c.n_cols) c.row(i).tail(c.n_cols - keys).zeros();
    }
    return c;
  }
  if (which == ScoreMatrix::softmax) return transposed_softmax(problem).t();
  const arma::mat scores = masked_scores_transposed(problem, 0, problem.n_q() - 1).t();
  return arma::exp(scores - scores.max());
}

template arma::Mat<float> transposed_softmax(const Problem<float>&);
template arma::Mat<double> transposed_softmax(const Problem<double>&);

}  // namespace croquis
