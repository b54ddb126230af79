// Scores of softmax attention, for streamed_product().
#pragma once

#include <cmath>
#include <croquis/kernel/streamed_product.hpp>
#include <croquis/linalg/products.hpp>

namespace croquis {

/// q_i.k_j / sqrt(p) + l_j.
template <typename T>
struct SoftmaxScores {
  const arma::Mat<T>&q, &k;
  const arma::Col<T>& log_weights;  // of the keys; empty: 0

  arma::uword rows() const { return q.n_rows; }
  arma::uword cols() const { return k.n_rows; }
  RowScale row_scale() const { return RowScale::by_sum; }
  void fill(arma::uword j0, arma::uword i0, arma::Mat<T>& block) const {
    product_nt_block(1 / std::sqrt(static_cast<T>(q.n_cols)), k, j0, q, i0, block);
    for (arma::uword i = 0; !log_weights.is_empty() && i < block.n_cols; ++i) {
      T* column = block.colptr(i);
      const T* weight = log_weights.memptr() + j0;
      for (arma::uword j = 0; j < block.n_rows; ++j) column[j] += weight[j];
    }
  }
};

}  // namespace croquis
