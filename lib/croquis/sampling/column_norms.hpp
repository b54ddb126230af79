// Norms of the columns of softmax attention, and its row sums, without an n x n matrix.
#pragma once

#include <armadillo>

namespace croquis {

template <typename T>
struct ColumnNorms {
  arma::Col<T> norms;         ///< ||B^(i)||, column i of B = softmax(Q K^T / sqrt(p))
  arma::Col<T> log_row_sums;  ///< log of the row sums of A
};

/// For queries and keys of size n x p. One pass over B in blocks of 256 rows, in at most 64 groups. The bits are the
/// same for any number of threads.
/// Cost: 2 n^2 p flops and n^2 exponentials; memory of 256 n numbers for each thread and of 64 n for the groups.
template <typename T>
ColumnNorms<T> column_norms(const arma::Mat<T>& q, const arma::Mat<T>& k);

}  // namespace croquis
