// Scores of softmax attention, for streamed_product().
#pragma once

#include <cmath>
#include <croquis/kernel/streamed_product.hpp>
#include <croquis/linalg/products.hpp>

namespace croquis {

/// The logits q_i.k_j / sqrt(p) + l_j.
template <typename T>
struct SoftmaxScores {
  const arma::Mat<T>&q, &k;
  const arma::Col<T>& log_weights;  // of the keys; empty means 0

  arma::uword rows() const { return q.n_rows; }
  arma::uword cols() const { return k.n_rows; }
  RowScale row_scale() const { return RowScale::by_sum; }
  void fill(arma::uword i0, arma::uword j0, arma::Mat<T>& block) const {
    product_nt_block(1 / std::sqrt(static_cast<T>(q.n_cols)), q, i0, k, j0, block);
    for (arma::uword j = 0; !log_weights.is_empty() && j < block.n_cols; ++j) block.col(j) += log_weights[j0 + j];
  }
};

}  // namespace croquis
