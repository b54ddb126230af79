// Sparse matrices by columns, for sketches with few nonzeros.
#pragma once

#include <armadillo>
#include <cstdint>
#include <vector>

namespace croquis {

/// A sparse matrix C (rows x cols). Column j is the sum of value[e] e_{index[e]} over start[j] <= e < start[j + 1]. If
/// an index occurs twice in a column, its values add up. Sizes of factors are not checked.
/// Guarantees: an entry of a product is a sum over the stored values of one row or column of C, added in the same order
///   for any number of threads.
/// Cost: 2 nnz k flops for a product with a matrix of k rows or columns.
template <typename T>
struct SparseColumns {
  arma::uword rows = 0, cols = 0;
  std::vector<std::size_t> start;    ///< cols + 1, ascending from 0
  std::vector<std::uint32_t> index;  ///< < rows
  std::vector<T> value;

  arma::Mat<T> times(const arma::Mat<T>& m) const;             ///< C M,    cols x k -> rows x k
  arma::Mat<T> transposed_times(const arma::Mat<T>& m) const;  ///< C^T M,  rows x k -> cols x k
  arma::Mat<T> after(const arma::Mat<T>& m) const;             ///< M C,    k x rows -> k x cols
  arma::Mat<T> transposed_after(const arma::Mat<T>& m) const;  ///< M C^T,  k x cols -> k x rows
  arma::Mat<T> dense() const;
};

}  // namespace croquis
