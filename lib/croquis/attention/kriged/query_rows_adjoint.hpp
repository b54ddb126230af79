// The adjoint of the rows of B~.
#pragma once

#include <croquis/attention/kriged/query_block.hpp>

namespace croquis {

/// Derivatives of <G, output> for the output of query_rows(), with respect to its arguments. The choice of the keys
/// that a query attends to one by one is held constant.
template <typename T>
struct QueryRowsAdjoint {
  arma::Mat<T> queries;          ///< n_q x p
  arma::Mat<T> cell_keys, sums;  ///< means and sums of the cells: s x p, s x (p_v + 1)
  arma::Mat<T> correction;       ///< s x (p_v + 1); empty where there is none
  arma::Mat<T> keys, values;     ///< of the near keys: n_k x p, n_k x (p_v + 1); empty where there are none
  arma::Row<T> lowest, highest;  ///< of the box, whose edges rows that are moved into it reach
};

/// The derivatives. Blocks of rows are computed again and used in cache. Rows of G that are zero add nothing.
/// Guarantees: the same bits for any number of threads: 8 groups of blocks have sums of their own.
/// Cost: 2 n_q (s + near keys) (3 p + 4 (p_v + 1)) flops; memory of 8 (s + n_k where there are near keys) (p + p_v)
///   numbers.
template <typename T>
QueryRowsAdjoint<T> query_rows_adjoint(const KrigedInput<T>& input, const PointTree& tree, const KeyCells<T>& cells,
                                       const NearField<T>& near, const arma::Mat<T>& correction,
                                       const arma::Mat<T>& cotangent);

}  // namespace croquis
