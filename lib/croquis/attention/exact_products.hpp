// Products with the score matrices of exact attention. `tokens` computes blocks of log-scores, as ExactTokens does.
#pragma once

#include <algorithm>
#include <croquis/attention/exact.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/streamed_product.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/linalg/row_math.hpp>
#include <croquis/linalg/transpose.hpp>
#include <memory>

namespace croquis {

/// E^T X for e_ij = exp(s_ij - maxima_i) / sums_i: B^T X with the row sums, C^T X with none.
/// Throws: std::invalid_argument unless X has a row for each query.
template <typename T, typename Tokens>
arma::Mat<T> attend_transposed(const Tokens& tokens, const arma::Mat<T>& of_queries, const RowSums<T>& row_sums) {
  constexpr arma::uword query_block = kStreamedRows, key_block = kStreamedCols;
  const arma::uword n_q = tokens.rows(), n_k = tokens.cols();
  require_rows(of_queries.n_rows, n_q, "attend_transposed");
  arma::Mat<T> x = transposed(of_queries);
  x.each_row() /= row_sums.sums.t();
  arma::Mat<T> y(n_k, x.n_rows, arma::fill::none);
  parallel_for(blocks_of(n_k, key_block), [&](std::size_t b) {
    thread_local arma::Mat<T> scores, sums;  // kept by the thread, as in streamed_product()
    thread_local arma::Col<T> unused;
    const arma::uword k0 = b * key_block, count = std::min(key_block, n_k - k0);
    sums.zeros(x.n_rows, count);
    unused.zeros(query_block);
    for (arma::uword q0 = 0; q0 < n_q; q0 += query_block) {
      const arma::uword rows = std::min(query_block, n_q - q0), seen = tokens.seen(q0 + rows - 1, k0, count);
      if (seen == 0) continue;
      scores.set_size(rows, seen);
      tokens.fill(q0, k0, scores);
      exp_shifted_rows(scores.memptr(), scores.n_rows, seen, row_sums.maxima.memptr() + q0, unused.memptr());
      narrow_gemm(CblasNoTrans, x.n_rows, seen, scores.n_rows, T(1), x.colptr(q0), scores.memptr(), scores.n_rows, T(1),
                  sums.memptr(), x.n_rows);
    }
    transpose_block(sums.memptr(), x.n_rows, x.n_rows, count, y.memptr() + k0, n_k);
  });
  return y;
}

/// B X or C X, and the log row sums.
template <typename T, typename Tokens>
ExactAttention<T> attend(const Tokens& tokens, const arma::Mat<T>& x) {
  ExactAttention<T> exact;
  exact.output = streamed_product<T>(tokens, x, {.row_maxima = &exact.row_sums.maxima, .sums = &exact.row_sums.sums});
  exact.log_row_sums = exact.row_sums.logarithms();
  return exact;
}

/// B or C as an operator.
template <typename T, typename Tokens>
LinearOperator<T> score_operator(const std::shared_ptr<const Tokens>& tokens, bool is_normalised) {
  const auto apply = [tokens](const arma::Mat<T>& x) -> arma::Mat<T> { return streamed_product<T>(*tokens, x); };
  // B^T needs the row sums before it can start: a pass of their own, taken once, and only where there is a B^T X.
  const LinearOperator<T> with_sums = deferred<T>(tokens->rows(), tokens->cols(), [=]() -> LinearOperator<T> {
    RowSums<T> row_sums = no_row_sums<T>(tokens->rows());
    if (is_normalised) {
      const arma::Mat<T> nothing(tokens->cols(), 0);
      streamed_product<T>(*tokens, nothing, {.row_maxima = &row_sums.maxima, .sums = &row_sums.sums});
    }
    return {tokens->rows(), tokens->cols(), apply,
            [=](const arma::Mat<T>& x) -> arma::Mat<T> { return attend_transposed<T>(*tokens, x, row_sums); }};
  });
  return {tokens->rows(), tokens->cols(), apply, with_sums.apply_transposed};
}

}  // namespace croquis
