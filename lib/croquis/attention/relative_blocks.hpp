// Block sizes of the products and the adjoint of RelativeScores, and helpers for blocks.
#pragma once

#include <algorithm>
#include <armadillo>

namespace croquis {

/// The maximum numbers of directions, queries, keys and tokens in a block.
struct RelativeBlocks {
  static constexpr arma::uword kDirections = 64, kQueries = 256, kKeys = 512, kTokens = 128;
};

/// The indices first, first + 1, ... of a block of at most `most` that ends before `end`.
inline arma::uvec block_indices(arma::uword first, arma::uword most, arma::uword end) {
  return arma::regspace<arma::uvec>(first, std::min(first + most, end) - 1);
}

/// `rows` as the last rows of a matrix of n rows, with zeros above them.
template <typename T>
arma::Mat<T> below_zeros(arma::Mat<T> rows, arma::uword n) {
  if (rows.n_rows < n) rows.insert_rows(0, n - rows.n_rows);
  return rows;
}

}  // namespace croquis
