// Products with a matrix of exponentials that is never stored: its blocks are made in cache and used there.
#pragma once

#include <algorithm>
#include <armadillo>
#include <cmath>
#include <croquis/core/threads.hpp>
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

/// What a product gives beside Y.
template <typename T>
struct StreamedExtra {
  arma::Col<T>* log_row_sums = nullptr;  ///< where to put the logs of the row sums of exp(s_ij)
  arma::Col<T>* last = nullptr;          ///< where to put the last column of M X, which Y then lacks
};

/// Y = M X (a x c) for X (b x c), with m_ij = exp(s_ij), or that over its row sum where Scores::normalised(). `scores`
/// has
///   rows() = a, cols() = b,
///   fill(j0, i0, block): block(j, i) = s_{i0 + i, j0 + j}, and
///   is_nothing(j0, i): whether columns j0, j0 + 1, ... count for nothing in the rows up to i.
/// Normalised rows keep a running maximum, so scores of any size are safe; others must not overflow.
/// Law: blocks of 256 rows and 512 columns, by shape alone. Where M has more columns than rows they are dealt out in 8
///   groups, whose sums are added in order. The same bits for any number of threads.
template <typename T, typename Scores>
arma::Mat<T> streamed_product(const Scores& scores, const arma::Mat<T>& x, const StreamedExtra<T>& extra = {}) {
  constexpr arma::uword most_groups = 8;
  const arma::uword rows = scores.rows(), cols = scores.cols(), width = x.n_cols;
  const arma::uword row_blocks = blocks_of(rows, kStreamedRows), col_blocks = blocks_of(cols, kStreamedCols);
  const arma::uword groups = rows >= cols ? 1 : std::min(most_groups, col_blocks);
  const arma::uword kept = extra.last ? width - 1 : width;
  arma::Mat<T> y(rows, kept, arma::fill::none);
  for (arma::Col<T>* column : {extra.log_row_sums, extra.last}) {
    if (column) column->set_size(rows);
  }

  const auto sum = [&](arma::uword row_block, arma::uword group, StreamedSums<T>& part) {
    // Kept by the thread: fresh memory for every block would cost more than its exponentials.
    thread_local arma::Mat<T> block;
    const arma::uword i0 = row_block * kStreamedRows, count = std::min(kStreamedRows, rows - i0);
    part.start(width, count, scores.normalised() ? -std::numeric_limits<T>::infinity() : T(0));
    for (arma::uword c = group * col_blocks / groups; c < (group + 1) * col_blocks / groups; ++c) {
      const arma::uword j0 = c * kStreamedCols;
      if (scores.is_nothing(j0, i0 + count - 1)) break;
      block.set_size(std::min(kStreamedCols, cols - j0), count);
      scores.fill(j0, i0, block);
      for (arma::uword i = 0; i < count; ++i) {
        T* column = block.colptr(i);
        if (scores.normalised()) part.raise(i, maximum(column, block.n_rows));
        part.weight[i] += exp_shifted(column, block.n_rows, part.top[i]);
      }
      if (width == 0) continue;
      gemm(CblasTrans, CblasNoTrans, static_cast<int>(width), static_cast<int>(count), static_cast<int>(block.n_rows),
           T(1), x.memptr() + j0, static_cast<int>(cols), block.memptr(), static_cast<int>(block.n_rows), T(1),
           part.sums.memptr(), static_cast<int>(width));
    }
  };
  const auto finish = [&](arma::uword row_block, StreamedSums<T>& part) {
    const arma::uword i0 = row_block * kStreamedRows, count = part.top.n_elem;
    for (arma::uword i = 0; scores.normalised() && i < count; ++i) {
      const T share = 1 / part.weight[i];
      T* column = part.sums.colptr(i);
      for (arma::uword c = 0; c < width; ++c) column[c] *= share;
    }
    if (kept > 0) transpose_block(part.sums.memptr(), width, kept, count, y.memptr() + i0, rows);
    for (arma::uword i = 0; extra.last && i < count; ++i) (*extra.last)[i0 + i] = part.sums.at(kept, i);
    if (!extra.log_row_sums) return;
    logarithm(part.weight.memptr(), count);
    for (arma::uword i = 0; i < count; ++i) (*extra.log_row_sums)[i0 + i] = part.top[i] + part.weight[i];
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
