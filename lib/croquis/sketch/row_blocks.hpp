// Products with a dense sketch S (n x d) that is generated in blocks when it is used, and never stored. In all
// functions fill(j, first, count, out) writes rows first, ..., first + count - 1 of column j. The functions do not
// check sizes; SizedSketch does.
#pragma once

#include <algorithm>
#include <armadillo>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <vector>

namespace croquis {

constexpr arma::uword kRowsPerBlock = 256;

constexpr arma::uword row_blocks_of(arma::uword n) {
  return (n + kRowsPerBlock - 1) / kRowsPerBlock;
}

/// L S for a matrix L with `height` rows. add(sum, first, block) must do sum += L_block block, where `block` has rows
/// first, first + 1, ... of some columns of S, and L_block has the columns of L that belong to these rows.
///
/// The work is divided into tasks. A task is a tile of columns or, if the product is small, a group of row blocks with
/// a sum of its own; these sums are added in order. The division depends only on the sizes, so the result has the same
/// bits for any number of threads.
template <typename T, typename Fill, typename Add>
arma::Mat<T> times_generated(arma::uword height, arma::uword n, arma::uword d, const Fill& fill, const Add& add) {
  constexpr arma::uword kMaxGroups = 16, kTile = 64, kMaxEntries = 1 << 22;
  const arma::uword blocks = row_blocks_of(n), entries = std::max<arma::uword>(1, height * d);
  const arma::uword groups = std::clamp<arma::uword>(kMaxEntries / entries, 1, std::min(kMaxGroups, blocks));
  const arma::uword tile = groups > 1 ? d : kTile, tiles = (d + tile - 1) / tile;
  std::vector<arma::Mat<T>> sums(groups * tiles);
  parallel_for(sums.size(), [&](std::size_t task) {
    const arma::uword group = task % groups, j0 = task / groups * tile, width = std::min(tile, d - j0);
    arma::Mat<T>& sum = sums[task];
    sum.zeros(height, width);
    arma::Mat<T> block;
    for (arma::uword b = group * blocks / groups; b < (group + 1) * blocks / groups; ++b) {
      const arma::uword first = b * kRowsPerBlock, count = std::min(kRowsPerBlock, n - first);
      block.set_size(count, width);
      for (arma::uword j = 0; j < width; ++j) fill(j0 + j, first, count, block.colptr(j));
      add(sum, first, block);
    }
  });
  arma::Mat<T> product(height, d, arma::fill::zeros);
  for (std::size_t task = 0; task < sums.size(); ++task) {
    const arma::uword j0 = task / groups * tile;
    product.cols(j0, j0 + sums[task].n_cols - 1) += sums[task];
  }
  return product;
}

/// S^T M.
template <typename T, typename Fill>
arma::Mat<T> left_by_blocks(const arma::Mat<T>& m, arma::uword d, const Fill& fill) {
  return times_generated<T>(m.n_cols, m.n_rows, d, fill,
                            [&](arma::Mat<T>& sum, arma::uword first, const arma::Mat<T>& block) {
                              add_product_tn(m, first, block, sum);
                            })
      .t();
}

/// M S.
template <typename T, typename Fill>
arma::Mat<T> right_by_blocks(const arma::Mat<T>& m, arma::uword d, const Fill& fill) {
  return times_generated<T>(
      m.n_rows, m.n_cols, d, fill,
      [&](arma::Mat<T>& sum, arma::uword first, const arma::Mat<T>& block) { add_product(m, first, block, sum); });
}

/// S M, S with n rows.
template <typename T, typename Fill>
arma::Mat<T> expand_by_blocks(const arma::Mat<T>& m, arma::uword n, const Fill& fill) {
  arma::Mat<T> result(n, m.n_cols, arma::fill::none);
  parallel_for(row_blocks_of(n), [&](std::size_t b) {
    const arma::uword first = b * kRowsPerBlock, count = std::min(kRowsPerBlock, n - first);
    arma::Mat<T> block(count, m.n_rows);
    for (arma::uword j = 0; j < m.n_rows; ++j) fill(j, first, count, block.colptr(j));
    result.rows(first, first + count - 1) = product(block, m);
  });
  return result;
}

/// Rows first, ..., first + count - 1 of S.
template <typename T, typename Fill>
arma::Mat<T> rows_by_columns(arma::uword first, arma::uword count, arma::uword d, const Fill& fill) {
  arma::Mat<T> rows(count, d, arma::fill::none);
  parallel_for(d, count, [&](std::size_t j) { fill(j, first, count, rows.colptr(j)); });
  return rows;
}

}  // namespace croquis
