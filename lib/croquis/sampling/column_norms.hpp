// Norms of the columns of softmax attention, and its row sums, without an n x n matrix.
#pragma once

#include <croquis/kernel/row_sums.hpp>

namespace croquis {

template <typename T>
struct ColumnNorms {
  arma::Col<T> norms;   ///< ||B^(i)||, column i of B = softmax(Q K^T / sqrt(p))
  RowSums<T> row_sums;  ///< of A
};

/// For Q (n_q x p) and K (n_k x p), by one pass over B in blocks of 256 rows, in at most 64 groups. The bits are the
/// same for any number of threads.
/// Cost: 2 n_q n_k p flops and n_q n_k exponentials; memory of 256 n_k numbers for each thread and of 64 n_k for the
///   groups.
template <typename T>
ColumnNorms<T> column_norms(const arma::Mat<T>& q, const arma::Mat<T>& k);

}  // namespace croquis
