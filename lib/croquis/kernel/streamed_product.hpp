// Products with a matrix of exponentials that is never stored: its blocks are computed and used in cache.
#pragma once

#include <algorithm>
#include <armadillo>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/streamed_extra.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/row_math.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <limits>
#include <utility>
#include <vector>

namespace croquis {

constexpr arma::uword kStreamedRows = 64, kStreamedCols = 512;  // size of a block

/// The number of blocks that `rows` rows are divided into. A block has 64 rows, and the last one also has the
/// remainder.
inline arma::uword streamed_row_blocks(arma::uword rows) {
  return rows == 0 ? 0 : std::max<arma::uword>(1, rows / kStreamedRows);
}

/// The sum of exp(s_ij - top_i) x_j over some of the columns j, for a block of rows i.
template <typename T>
struct StreamedSums {
  arma::Mat<T> sums;         // rows x width
  arma::Col<T> weight, top;  // sum of the exponentials, and row maximum of the scores
  bool empty = true;         // nothing has been added, and `sums` is not filled

  void start(arma::uword rows, arma::uword width, T first_top) {
    sums.set_size(rows, width);
    weight.zeros(rows);
    top.set_size(rows);
    top.fill(first_top);
    empty = true;
  }

  // Raises the row maxima, to which the sums are relative, to these values; none is smaller than before.
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
  none,        ///< nothing; exponentials above 1 are replaced by 1
  by_largest,  ///< exp(top_i), where top_i is the row maximum; safe for scores of any size
  by_sum       ///< their sum, which gives a softmax; equally safe
};

/// Y = M X (a x c) for X (b x c), with m_ij = exp(s_ij) scaled by rows. `scores` has these members:
///   rows() = a, cols() = b, row_scale(),
///   fill(i0, j0, block): sets block(i, j) = s_{i0 + i, j0 + j}.
/// It may also have these:
///   begin_columns(j0, count): announces that the next blocks of this thread are from these columns,
///   seen(i, j0, count): the number of the columns j0 ... j0 + count - 1, from the first on, that fill() has to compute
///   for a block whose last row is i; the other columns are masked in all rows of the block,
///   keep(i0, j0, block, top): gets the block after exponentiation, exp(s_{i0 + i, j0 + j} - top_i), where top_i is the
///   row maximum so far. It may read the block or move from it,
///   finish(i0, sums): with RowScale::by_largest, may change rows i0, i0 + 1, ... of M X before they are returned.
/// Guarantees: blocks have 64 rows and 512 columns, depending only on the sizes. If M has more columns than rows, the
///   columns are divided into 8 groups, whose sums are added in order. The bits are the same for any number of threads.
/// Lifetime: the members are references for the duration of one call, StreamedProduct(...).run(); use
///   streamed_product().
template <typename T, typename Scores>
class StreamedProduct {
 public:
  StreamedProduct(const Scores& scores, const arma::Mat<T>& x, const StreamedExtra<T>& extra)
      : scores_(scores),
        x_(x),
        extra_(extra),
        scale_(scores.row_scale()),
        row_blocks_(streamed_row_blocks(scores.rows())),
        col_blocks_(blocks_of(scores.cols(), kStreamedCols)),
        groups_(scores.rows() >= scores.cols() ? 1 : std::min<arma::uword>(8, col_blocks_)),
        y_(scores.rows(), x.n_cols - (extra.last ? 1 : 0), arma::fill::none) {
    for (arma::Col<T>* column : {extra.row_maxima, extra.sums, extra.last}) {
      if (column) column->set_size(scores.rows());
    }
  }

  arma::Mat<T> run() {
    const auto blocks_from = [this](arma::uword first) { return std::min(kTogether, row_blocks_ - first); };
    if (groups_ == 1) {
      parallel_for(blocks_of(row_blocks_, kTogether), [&](std::size_t i) {
        thread_local StreamedSums<T> parts[kTogether];
        const arma::uword first = i * kTogether, count = blocks_from(first);
        sum(first, count, 0, parts);
        for (arma::uword b = 0; b < count; ++b) finish(first + b, parts[b]);
      });
      return std::move(y_);
    }
    std::vector<StreamedSums<T>> parts(groups_ * row_blocks_);  // one group after the other
    parallel_for(blocks_of(row_blocks_, kTogether) * groups_, [&](std::size_t i) {
      const arma::uword first = i / groups_ * kTogether, group = i % groups_;
      sum(first, blocks_from(first), group, &parts[group * row_blocks_ + first]);
    });
    for (arma::uword b = 0; b < row_blocks_; ++b) {
      for (arma::uword g = 1; g < groups_; ++g) parts[b].add(parts[g * row_blocks_ + b]);
      finish(b, parts[b]);
    }
    return std::move(y_);
  }

 private:
  // The number of blocks of rows that share each block of columns, so that its scores and rows of X are in the cache.
  static constexpr arma::uword kTogether = 4;

  arma::uword first_row(arma::uword row_block) const { return row_block * kStreamedRows; }
  arma::uword rows_of(arma::uword row_block) const {
    return (row_block + 1 < row_blocks_ ? first_row(row_block + 1) : scores_.rows()) - first_row(row_block);
  }

  // Adds the columns of a group to the sums of `count` blocks of rows.
  void sum(arma::uword row_block, arma::uword count, arma::uword group, StreamedSums<T>* parts) const {
    for (arma::uword b = 0; b < count; ++b) {
      parts[b].start(rows_of(row_block + b), x_.n_cols,
                     scale_ == RowScale::none ? T(0) : -std::numeric_limits<T>::infinity());
    }
    for (arma::uword c = group * col_blocks_ / groups_; c < (group + 1) * col_blocks_ / groups_; ++c) {
      const arma::uword j0 = c * kStreamedCols, cols = std::min(kStreamedCols, scores_.cols() - j0);
      if constexpr (requires { scores_.begin_columns(j0, cols); }) scores_.begin_columns(j0, cols);
      for (arma::uword b = 0; b < count; ++b) {
        const arma::uword i0 = first_row(row_block + b);
        arma::uword made = cols;
        if constexpr (requires { scores_.seen(i0, j0, cols); }) {
          made = scores_.seen(i0 + parts[b].top.n_elem - 1, j0, cols);
        }
        if (made > 0) add(i0, j0, made, parts[b]);
      }
    }
  }

  void add(arma::uword i0, arma::uword j0, arma::uword cols, StreamedSums<T>& part) const {
    // Each thread keeps these, because new memory for every block would cost more than its exponentials.
    thread_local arma::Mat<T> block;
    thread_local arma::Col<T> top;
    block.set_size(part.top.n_elem, cols);
    scores_.fill(i0, j0, block);
    if (scale_ != RowScale::none) {
      top = part.top;
      raise_to_row_maxima(block.memptr(), block.n_rows, cols, top.memptr());
      part.raise(top);
    }
    exp_shifted_rows(block.memptr(), block.n_rows, cols, part.top.memptr(), part.weight.memptr());
    if (x_.n_cols > 0) {
      narrow_gemm(CblasNoTrans, block.n_rows, x_.n_cols, cols, T(1), block.memptr(), x_.memptr() + j0, x_.n_rows,
                  part.empty ? T(0) : T(1), part.sums.memptr(), block.n_rows);
    }
    part.empty = false;
    if constexpr (requires { scores_.keep(i0, j0, block, part.top); }) scores_.keep(i0, j0, block, part.top);
  }

  void finish(arma::uword row_block, StreamedSums<T>& part) {
    const arma::uword i0 = first_row(row_block), count = part.top.n_elem;
    if (part.empty) part.sums.zeros();
    if constexpr (requires { scores_.finish(i0, part.sums); }) scores_.finish(i0, part.sums);
    arma::Col<T> share(count, arma::fill::ones);
    if (scale_ == RowScale::by_sum) share /= part.weight;
    const auto give = [&](arma::uword first, arma::uword cols, T* to) {
      scale_rows(part.sums.colptr(first), count, cols, share.memptr(), nullptr, nullptr, to + i0, y_.n_rows);
    };
    if (!y_.is_empty()) give(0, y_.n_cols, y_.memptr());
    if (extra_.last) give(y_.n_cols, 1, extra_.last->memptr());
    if (extra_.row_maxima) std::copy_n(part.top.memptr(), count, extra_.row_maxima->memptr() + i0);
    if (extra_.sums) std::copy_n(part.weight.memptr(), count, extra_.sums->memptr() + i0);
  }

  const Scores& scores_;
  const arma::Mat<T>& x_;
  const StreamedExtra<T>& extra_;
  const RowScale scale_;
  const arma::uword row_blocks_, col_blocks_, groups_;
  arma::Mat<T> y_;
};

/// Computes Y. See StreamedProduct.
/// Throws: std::invalid_argument unless X has a row for each column of scores and, for extra.last, a column.
template <typename T, typename Scores>
arma::Mat<T> streamed_product(const Scores& scores, const arma::Mat<T>& x, const StreamedExtra<T>& extra = {}) {
  require(x.n_rows == scores.cols() && (x.n_cols > 0 || !extra.last), "streamed_product",
          "an X with a row for each column of scores, and with a column where the last is wanted",
          {{"rows", x.n_rows}, {"wanted", scores.cols()}, {"cols", x.n_cols}});
  return StreamedProduct<T, Scores>(scores, x, extra).run();
}

}  // namespace croquis
