// Products with a matrix of exponentials that is never stored: its blocks are made in cache and used there.
#pragma once

#include <algorithm>
#include <armadillo>
#include <cmath>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/streamed_extra.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace croquis {

constexpr arma::uword kStreamedRows = 64, kStreamedCols = 512;  // of a block

/// Blocks of rows in `rows` of them: of 64, the last with what is left over.
inline arma::uword streamed_row_blocks(arma::uword rows) {
  return rows == 0 ? 0 : std::max<arma::uword>(1, rows / kStreamedRows);
}

/// Sum of exp(s_ij - top_i) x_j over some of the columns j, for a block of rows i.
template <typename T>
struct StreamedSums {
  arma::Mat<T> sums;         // rows x width
  arma::Col<T> weight, top;  // weight: sum of the exponentials
  bool empty;                // nothing has been added, and `sums` is not filled

  void start(arma::uword rows, arma::uword width, T first_top) {
    sums.set_size(rows, width);
    weight.zeros(rows);
    top.set_size(rows);
    top.fill(first_top);
    empty = true;
  }

  // From here on rows are relative to these tops, none below what it was.
  void raise(const arma::Col<T>& to) {
    if (!empty && !std::equal(top.begin(), top.end(), to.begin())) {
      arma::Col<T> shrink = top - to;
      exp_shifted(shrink.memptr(), shrink.n_elem, T(0));
      sums.each_col() %= shrink;
      weight %= shrink;
    }
    top = to;
  }

  void add(StreamedSums& other) {
    if (other.empty) return;
    if (empty) return std::swap(*this, other);
    const arma::Col<T> highest = arma::max(top, other.top);
    raise(highest);
    other.raise(highest);
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
///   fill(i0, j0, block): block(i, j) = s_{i0 + i, j0 + j},
/// and may have
///   is_nothing(i, j0): whether columns j0, j0 + 1, ... count for nothing in the rows up to i, and
///   keep(i0, j0, block, top): what has become of the block, exp(s_{i0 + i, j0 + j} - top_i), top_i the largest so far,
///   to be read or moved from.
/// Law: blocks of 64 rows and 512 columns, by shape alone; four of them, one below the other, have their columns of the
///   scores and rows of X from the cache. Where M has more columns than rows they are dealt out in 8 groups, whose sums
///   are added in order. The same bits for any number of threads.
template <typename T, typename Scores>
arma::Mat<T> streamed_product(const Scores& scores, const arma::Mat<T>& x, const StreamedExtra<T>& extra = {}) {
  constexpr arma::uword most_groups = 8, together = 4;
  const arma::uword rows = scores.rows(), cols = scores.cols(), width = x.n_cols;
  const arma::uword row_blocks = streamed_row_blocks(rows), col_blocks = blocks_of(cols, kStreamedCols);
  const arma::uword groups = rows >= cols ? 1 : std::min(most_groups, col_blocks);
  const arma::uword kept = extra.last ? width - 1 : width;
  const RowScale scale = scores.row_scale();
  arma::Mat<T> y(rows, kept, arma::fill::none);
  for (arma::Col<T>* column : {extra.tops, extra.sums, extra.last}) {
    if (column) column->set_size(rows);
  }
  const auto first_row = [](arma::uword row_block) { return row_block * kStreamedRows; };
  const auto rows_of = [&](arma::uword row_block) {
    return (row_block + 1 < row_blocks ? first_row(row_block + 1) : rows) - first_row(row_block);
  };

  const auto add = [&](arma::uword i0, arma::uword j0, StreamedSums<T>& part) {
    // Kept by the thread: fresh memory for every block would cost more than its exponentials.
    thread_local arma::Mat<T> block;
    thread_local arma::Col<T> top;
    block.set_size(part.top.n_elem, std::min(kStreamedCols, cols - j0));
    scores.fill(i0, j0, block);
    if (scale != RowScale::none) {
      top = part.top;
      raise_to_row_maxima(block.memptr(), block.n_rows, block.n_cols, top.memptr());
      part.raise(top);
    }
    exp_shifted_rows(block.memptr(), block.n_rows, block.n_cols, part.top.memptr(), part.weight.memptr());
    if (width > 0) {
      narrow_gemm(CblasNoTrans, block.n_rows, width, block.n_cols, T(1), block.memptr(), x.memptr() + j0, cols,
                  part.empty ? T(0) : T(1), part.sums.memptr(), block.n_rows);
    }
    part.empty = false;
    if constexpr (requires { scores.keep(i0, j0, block, part.top); }) scores.keep(i0, j0, block, part.top);
  };
  // Parts `first`, first + 1, ... for as many blocks of rows.
  const auto sum = [&](arma::uword row_block, arma::uword count, arma::uword group, StreamedSums<T>* first) {
    for (arma::uword b = 0; b < count; ++b) {
      first[b].start(rows_of(row_block + b), width, scale == RowScale::none ? T(0) : -std::numeric_limits<T>::infinity());
    }
    for (arma::uword c = group * col_blocks / groups; c < (group + 1) * col_blocks / groups; ++c) {
      for (arma::uword b = 0; b < count; ++b) {
        const arma::uword i0 = first_row(row_block + b), j0 = c * kStreamedCols;
        if constexpr (requires { scores.is_nothing(i0, j0); }) {
          if (scores.is_nothing(i0 + first[b].top.n_elem - 1, j0)) continue;
        }
        add(i0, j0, first[b]);
      }
    }
  };
  const auto finish = [&](arma::uword row_block, StreamedSums<T>& part) {
    const arma::uword i0 = first_row(row_block), count = part.top.n_elem;
    if (part.empty) part.sums.zeros();
    if (scale == RowScale::by_sum) part.sums.each_col() %= 1 / part.weight;
    for (arma::uword c = 0; c < kept; ++c) std::copy_n(part.sums.colptr(c), count, y.colptr(c) + i0);
    if (extra.last) std::copy_n(part.sums.colptr(kept), count, extra.last->memptr() + i0);
    if (extra.tops) std::copy_n(part.top.memptr(), count, extra.tops->memptr() + i0);
    if (extra.sums) std::copy_n(part.weight.memptr(), count, extra.sums->memptr() + i0);
  };

  const auto blocks_from = [&](arma::uword first) { return std::min(together, row_blocks - first); };
  if (groups == 1) {
    parallel_for(blocks_of(row_blocks, together), [&](std::size_t i) {
      thread_local StreamedSums<T> parts[together];
      const arma::uword first = i * together, count = blocks_from(first);
      sum(first, count, 0, parts);
      for (arma::uword b = 0; b < count; ++b) finish(first + b, parts[b]);
    });
    return y;
  }
  std::vector<StreamedSums<T>> parts(groups * row_blocks);  // a group after the other
  parallel_for(blocks_of(row_blocks, together) * groups, [&](std::size_t i) {
    const arma::uword first = i / groups * together, group = i % groups;
    sum(first, blocks_from(first), group, &parts[group * row_blocks + first]);
  });
  for (arma::uword b = 0; b < row_blocks; ++b) {
    for (arma::uword g = 1; g < groups; ++g) parts[b].add(parts[g * row_blocks + b]);
    finish(b, parts[b]);
  }
  return y;
}

}  // namespace croquis
