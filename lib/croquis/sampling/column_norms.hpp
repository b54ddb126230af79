// Norms of the columns of softmax attention, and its row sums, without n x n storage.
#pragma once

#include <armadillo>

namespace croquis {

template <typename T>
struct ColumnNorms {
  arma::Col<T> norms;         ///< ||B^(i)||, column i of B = softmax(Q K^T / sqrt(p))
  arma::Col<T> log_row_sums;  ///< log of the row sums of A
};

/// One pass over B in blocks of 256 rows. The same bits for any number of threads.
/// Cost: 2 n^2 p flops, n^2 exponentials; 256 n numbers a thread.
template <typename T>
ColumnNorms<T> column_norms(const arma::Mat<T>& q, const arma::Mat<T>& k);

}  // namespace croquis
