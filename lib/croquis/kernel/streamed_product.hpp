// Products with a matrix of exponentials that is never stored: its blocks are made in cache and used there.
#pragma once

#include <algorithm>
#include <armadillo>
#include <cmath>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/streamed_extra.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/transpose.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <limits>
#include <vector>

namespace croquis {

constexpr arma::uword kStreamedRows = 256, kStreamedCols = 512;  // of a block

/// Sum of exp(s_ij - top_i) x_j over some of the columns j, for a block of rows i, which are columns here.
template <typename T>
struct StreamedSums {
  arma::Mat<T> sums;         // width x rows
  arma::Col<T> weight, top;  // weight: sum of the exponentials

  void start(arma::uword width, arma::uword rows, T first_top) {
    sums.zeros(width, rows);
    weight.zeros(rows);
    top.set_size(rows);
    top.fill(first_top);
  }

  // From here on row j is relative to a top at least as high as `other`.
  void raise(arma::uword j, T other) {
    if (other <= top[j]) return;
    const T shrink = std::exp(top[j] - other);  // 0 at the first
    weight[j] *= shrink;
    if (!sums.is_empty()) sums.col(j) *= shrink;  // X without columns: the row sums alone
    top[j] = other;
  }

  void add(StreamedSums& other) {
    for (arma::uword j = 0; j < top.n_elem; ++j) {
      raise(j, other.top[j]);
      other.raise(j, top[j]);
    }
    sums += other.sums;
    weight += other.weight;
  }
};

/// What row i of the exponentials is divided by.
enum class RowScale {
  none,        ///< nothing: they must not overflow
  by_largest,  ///< exp(top_i), top_i the largest score of the row: scores of any size are safe
  by_sum       ///< their sum, a softmax; as safe
};

/// Y = M X (a x c) for X (b x c), with m_ij = exp(s_ij) scaled by rows. `scores` has
///   rows() = a, cols() = b, row_scale(),
///   fill(j0, i0, block): block(j, i) = s_{i0 + i, j0 + j},
/// and may have
///   is_nothing(j0, i): whether columns j0, j0 + 1, ... count for nothing in the rows up to i, and
///   keep(j0, i0, block, top): what has become of the block, exp(s_{i0 + i, j0 + j} - top_i), top_i the largest so far,
///   to be read or moved from.
/// Law: blocks of 256 rows and 512 columns, by shape alone. Where M has more columns than rows they are dealt out in 8
///   groups, whose sums are added in order. The same bits for any number of threads.
template <typename T, typename Scores>
arma::Mat<T> streamed_product(const Scores& scores, const arma::Mat<T>& x, const StreamedExtra<T>& extra = {}) {
  constexpr arma::uword most_groups = 8;
  const arma::uword rows = scores.rows(), cols = scores.cols(), width = x.n_cols;
  const arma::uword row_blocks = blocks_of(rows, kStreamedRows), col_blocks = blocks_of(cols, kStreamedCols);
  const arma::uword groups = rows >= cols ? 1 : std::min(most_groups, col_blocks);
  const arma::uword kept = extra.last ? width - 1 : width;
  const RowScale scale = scores.row_scale();
  arma::Mat<T> y(rows, kept, arma::fill::none);
  for (arma::Col<T>* column : {extra.tops, extra.sums, extra.last}) {
    if (column) column->set_size(rows);
  }

  const auto sum = [&](arma::uword row_block, arma::uword group, StreamedSums<T>& part) {
    // Kept by the thread: fresh memory for every block would cost more than its exponentials.
    thread_local arma::Mat<T> block;
    const arma::uword i0 = row_block * kStreamedRows, count = std::min(kStreamedRows, rows - i0);
    part.start(width, count, scale == RowScale::none ? T(0) : -std::numeric_limits<T>::infinity());
    for (arma::uword c = group * col_blocks / groups; c < (group + 1) * col_blocks / groups; ++c) {
      const arma::uword j0 = c * kStreamedCols;
      if constexpr (requires { scores.is_nothing(j0, i0); }) {
        if (scores.is_nothing(j0, i0 + count - 1)) break;
      }
      block.set_size(std::min(kStreamedCols, cols - j0), count);
      scores.fill(j0, i0, block);
      for (arma::uword i = 0; i < count; ++i) {
        T* column = block.colptr(i);
        if (scale != RowScale::none) part.raise(i, maximum(column, block.n_rows));
        part.weight[i] += exp_shifted(column, block.n_rows, part.top[i]);
      }
      if (width > 0) {
        gemm(CblasTrans, CblasNoTrans, width, count, block.n_rows, T(1), x.memptr() + j0, cols, block.memptr(),
             block.n_rows, T(1), part.sums.memptr(), width);
      }
      if constexpr (requires { scores.keep(j0, i0, block, part.top); }) scores.keep(j0, i0, block, part.top);
    }
  };
  const auto finish = [&](arma::uword row_block, StreamedSums<T>& part) {
    const arma::uword i0 = row_block * kStreamedRows, count = part.top.n_elem;
    for (arma::uword i = 0; scale == RowScale::by_sum && i < count; ++i) {
      const T share = 1 / part.weight[i];
      T* column = part.sums.colptr(i);
      for (arma::uword c = 0; c < width; ++c) column[c] *= share;
    }
    if (kept > 0) transpose_block(part.sums.memptr(), width, kept, count, y.memptr() + i0, rows);
    for (arma::uword i = 0; extra.last && i < count; ++i) (*extra.last)[i0 + i] = part.sums.at(kept, i);
    if (extra.tops) std::copy_n(part.top.memptr(), count, extra.tops->memptr() + i0);
    if (extra.sums) std::copy_n(part.weight.memptr(), count, extra.sums->memptr() + i0);
  };

  if (groups == 1) {
    parallel_for(row_blocks, [&](std::size_t b) {
      thread_local StreamedSums<T> part;
      sum(b, 0, part);
      finish(b, part);
    });
    return y;
  }
  std::vector<StreamedSums<T>> parts(row_blocks * groups);
  parallel_for(parts.size(), [&](std::size_t i) { sum(i / groups, i % groups, parts[i]); });
  for (arma::uword b = 0; b < row_blocks; ++b) {
    StreamedSums<T>* first = &parts[b * groups];
    for (arma::uword g = 1; g < groups; ++g) first->add(first[g]);
    finish(b, *first);
  }
  return y;
}

}  // namespace croquis
