#include <algorithm>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/exact_tokens.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/streamed_product.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/row_math.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <memory>

namespace croquis {
namespace {

// Y for Y = B^T X or C^T X; x holds X^T, log_scale the log row sums, or zeros (kernelized).
template <typename T>
arma::Mat<T> attend_transposed(const ExactTokens<T>& tokens, const arma::Mat<T>& x, const arma::Col<T>& log_scale) {
  constexpr arma::uword query_block = kStreamedRows, key_block = kStreamedCols;
  const arma::uword n_q = tokens.rows(), n_k = tokens.cols();
  arma::Mat<T> y(n_k, x.n_rows, arma::fill::none);
  parallel_for(blocks_of(n_k, key_block), [&](std::size_t b) {
    thread_local arma::Mat<T> scores, sums;  // kept by the thread, as in streamed_product()
    thread_local arma::Col<T> row_sums;
    const arma::uword k0 = b * key_block, count = std::min(key_block, n_k - k0);
    sums.zeros(x.n_rows, count);
    row_sums.zeros(query_block);
    for (arma::uword q0 = 0; q0 < n_q; q0 += query_block) {
      const arma::uword rows = std::min(query_block, n_q - q0), seen = tokens.seen(q0 + rows - 1, k0, count);
      if (seen == 0) continue;
      scores.set_size(rows, seen);
      tokens.fill(q0, k0, scores);
      exp_shifted_rows(scores.memptr(), scores.n_rows, seen, log_scale.memptr() + q0, row_sums.memptr());
      narrow_gemm(CblasNoTrans, x.n_rows, seen, scores.n_rows, T(1), x.colptr(q0), scores.memptr(), scores.n_rows, T(1),
                  sums.memptr(), x.n_rows);
    }
    transpose_block(sums.memptr(), x.n_rows, x.n_rows, count, y.memptr() + k0, n_k);
  });
  return y;
}

// B X or C X, and the log row sums.
template <typename T>
ExactAttention<T> attend(const ExactTokens<T>& tokens, const arma::Mat<T>& x) {
  ExactAttention<T> exact;
  arma::Col<T> row_maxima;
  exact.output = streamed_product<T>(tokens, x, {.row_maxima = &row_maxima, .sums = &exact.log_row_sums});
  logarithm(exact.log_row_sums.memptr(), exact.log_row_sums.n_elem);
  exact.log_row_sums += row_maxima;
  return exact;
}

}  // namespace

template <typename T>
ExactAttention<T> exact_attention(const Problem<T>& problem, Target target) {
  return attend(ExactTokens<T>(problem, target), problem.V());
}

template <typename T>
ExactAttention<T> exact_attention_rows(const Problem<T>& problem, Target target, const arma::uvec& rows) {
  require(!rows.is_empty() && rows.is_sorted("strictascend") && rows.back() < problem.n_q(), "exact_attention_rows",
          "rows ascend, each once, below n_q", {{"rows", rows.n_elem}, {"n_q", problem.n_q()}});
  return attend(ExactTokens<T>(problem, target, rows), problem.V());
}

template <typename T>
LinearOperator<T> exact_scores(const Problem<T>& problem, Target target) {
  const auto tokens = std::make_shared<const ExactTokens<T>>(problem, target);
  // The row sums are a pass of their own, taken once: B^T needs them before it can start.
  arma::Col<T> log_scale(problem.n_q(), arma::fill::zeros);
  if (is_normalised(target)) log_scale = attend(*tokens, arma::Mat<T>(problem.n_k(), 0)).log_row_sums;
  return {problem.n_q(), problem.n_k(),
          [tokens](const arma::Mat<T>& x) -> arma::Mat<T> { return streamed_product<T>(*tokens, x); },
          [tokens, log_scale](const arma::Mat<T>& x) -> arma::Mat<T> {
            return attend_transposed<T>(*tokens, transposed(x), log_scale);
          }};
}

template <typename T>
arma::Mat<T> exact_transposed_product(const Problem<T>& problem, Target target, const arma::Col<T>& log_row_sums,
                                      const arma::Mat<T>& x) {
  const bool fits = !is_normalised(target) || log_row_sums.n_elem == problem.n_q();
  require(fits && x.n_rows == problem.n_q(), "exact_transposed_product", "a row sum and a row of X for every query",
          {{"n_q", problem.n_q()}, {"log_row_sums", log_row_sums.n_elem}, {"x.rows", x.n_rows}});
  const arma::Col<T> zeros(problem.n_q(), arma::fill::zeros);
  return attend_transposed<T>(ExactTokens<T>(problem, target), transposed(x),
                              is_normalised(target) ? log_row_sums : zeros);
}

template ExactAttention<float> exact_attention(const Problem<float>&, Target);
template ExactAttention<double> exact_attention(const Problem<double>&, Target);
template ExactAttention<float> exact_attention_rows(const Problem<float>&, Target, const arma::uvec&);
template ExactAttention<double> exact_attention_rows(const Problem<double>&, Target, const arma::uvec&);
template LinearOperator<float> exact_scores(const Problem<float>&, Target);
template LinearOperator<double> exact_scores(const Problem<double>&, Target);
template arma::Mat<float> exact_transposed_product(const Problem<float>&, Target, const arma::Col<float>&,
                                                   const arma::Mat<float>&);
template arma::Mat<double> exact_transposed_product(const Problem<double>&, Target, const arma::Col<double>&,
                                                    const arma::Mat<double>&);

}  // namespace croquis
