// One attention head whose tokens are divided among the ranks.
#pragma once

#include <armadillo>
#include <croquis/core/serial_blas.hpp>
#include <croquis/distributed/communicator.hpp>
#include <string>

namespace croquis {

/// The rows of one rank if 0 ... n-1 are divided into consecutive parts, of which the first n mod `size` are one row
/// longer.
struct RowRange {
  arma::uword first = 0, count = 0;
};
RowRange rows_of_rank(arma::uword n, int rank, int size);

/// This rank's tokens of Q, K (n x p) and V (n x p_v): first, ..., first + own() - 1. Every rank must have a row or
/// more, finite and of norm at most largest_row_norm(n). read_split_head ensures this; for a head from elsewhere,
/// require_split_head checks it.
struct SplitHead {
  arma::mat q, k, v;
  arma::uword first = 0, n = 0;

  arma::uword own() const { return q.n_rows; }
};

/// Reads only the rows of this rank from three .npy files.
/// Throws: std::invalid_argument as read_npy, if the sizes do not agree, if there are fewer rows than ranks, for NaN
///   and infinity, with file and row, and for a row above largest_row_norm(n). It may throw on one rank alone.
SplitHead read_split_head(const std::string& q, const std::string& k, const std::string& v, const Communicator& world);

/// Checks the parts of all ranks, so that none of them waits for one whose part is refused. Collective.
/// Cost: a pass over Q, K and V, about as much as v-mean takes. Split methods, whose time is measured, do not call it.
/// Throws: std::invalid_argument on all ranks if one of them has no row, matrices of different sizes, rows beyond n,
///   NaN or infinity, or a row above largest_row_norm(n), with matrix and row on that rank; if n, p or p_v differ
///   between ranks; or if one of the rows 0 ... n-1 is on no rank or on two. The order of the parts may be any.
void require_split_head(const SplitHead& head, const Communicator& world);

/// Returns on all ranks the given rows of a matrix that is divided as above, with the same bits. This rank has the rows
/// first, ..., first + own.n_rows - 1 in `own`. Rows may repeat. Collective.
/// Network: rows.n_elem own.n_cols numbers for each rank.
arma::mat gather_rows(const arma::mat& own, arma::uword first, const arma::uvec& rows, const Communicator& world);

/// S^T M for a sketch that can generate single rows of S (rows_of): every rank generates its own, from the same random
/// key.
/// Guarantees: the entries of S have the same bits for any number of ranks. A sum over R ranks and blocks of rows
///   differs from that of one rank by at most 2 n u |S|^T |M|.
/// Network: one reduction of d k numbers.
template <typename S>
arma::mat split_left(const S& sketch, const arma::mat& own, arma::uword first, const Communicator& world) {
  const SerialBlas serial;
  constexpr arma::uword block = 1024;
  arma::mat product(sketch.cols(), own.n_cols, arma::fill::zeros);
  for (arma::uword i = 0; i < own.n_rows; i += block) {
    const arma::uword count = std::min(block, own.n_rows - i);
    product += sketch.template rows_of<double>(first + i, count).t() * own.rows(i, i + count - 1);
  }
  world.sum(product);
  return product;
}

}  // namespace croquis
