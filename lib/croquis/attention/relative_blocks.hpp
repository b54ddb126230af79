// What the products and the adjoint of RelativeScores are computed in.
#pragma once

#include <algorithm>
#include <armadillo>

namespace croquis {

/// Directions, queries, keys and tokens of a block.
struct RelativeBlocks {
  static constexpr arma::uword kDirections = 64, kQueries = 256, kKeys = 512, kTokens = 128;
};

/// first, first + 1, ... of a block of at most `most` before `end`.
inline arma::uvec block_indices(arma::uword first, arma::uword most, arma::uword end) {
  return arma::regspace<arma::uvec>(first, std::min(first + most, end) - 1);
}

/// The last rows of n, zeros above them.
template <typename T>
arma::Mat<T> below_zeros(arma::Mat<T> rows, arma::uword n) {
  if (rows.n_rows < n) rows.insert_rows(0, n - rows.n_rows);
  return rows;
}

}  // namespace croquis
