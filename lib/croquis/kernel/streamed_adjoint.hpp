// The adjoint of streamed products: blocks of exponentials are recomputed, and used in cache.
#pragma once

#include <algorithm>
#include <armadillo>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/row_sums.hpp>
#include <croquis/kernel/streamed_product.hpp>
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/row_math.hpp>
#include <croquis/linalg/transpose.hpp>
#include <vector>

namespace croquis {

/// The input of the adjoint of Y = M X (a x c) for X (b x c) and m_ij = exp(s_ij - maxima_i) / sums_i. With the
/// cotangent G of Y, that of the scores is D = M o (G X^T - delta 1^T), where o is the entrywise product.
template <typename T>
struct StreamedCotangent {
  const arma::Mat<T>& x;          ///< X
  const arma::Mat<T>& cotangent;  ///< G, a x c
  const RowSums<T>& row_sums;     ///< of exp(s_ij) for a softmax, a zeros and a ones for a kernel
  const arma::Col<T>& delta;      ///< g_i.y_i for a softmax, a zeros for a kernel
  const arma::Mat<T>& left;       ///< L, a x l
  const arma::Mat<T>& right;      ///< R, b x r
};

template <typename T>
struct StreamedAdjoint {
  arma::Mat<T> x;      ///< M^T G, b x c
  arma::Mat<T> left;   ///< D R, a x r
  arma::Mat<T> right;  ///< D^T L, b x l
};

/// The number of groups of blocks. Each group has sums of its own.
constexpr arma::uword kAdjointGroups = 8;

/// The products with M and D, which are never stored. `scores` is as for streamed_product(): rows(), cols(), fill(i0,
/// j0, block) and optionally begin_columns and seen. It may also have
///   add_cotangent(group, i0, j0, block): gets a block of D. Calls with the same group < kAdjointGroups never overlap
///   in time.
/// Guarantees: blocks are those of streamed_product(). Those of the longer side are divided among 8 groups, whose sums
///   over the shorter side are added in order. The bits are the same for any number of threads.
/// Cost: the fill, a b exponentials and 2 a b (2 c + l + r) flops; memory of 8 min(a, b) (c + l) numbers or, with more
///   columns than rows, 8 a r.
template <typename T, typename Scores>
class StreamedAdjoints {
 public:
  StreamedAdjoints(const Scores& scores, const StreamedCotangent<T>& given)
      : scores_(scores),
        given_(given),
        cotangent_(given.cotangent.each_col() / given.row_sums.sums),
        delta_(given.delta / given.row_sums.sums),
        x_columns_(transposed(given.x)),
        cotangent_columns_(transposed(cotangent_)),
        left_columns_(transposed(given.left)),
        row_blocks_(streamed_row_blocks(scores.rows())),
        col_blocks_(blocks_of(scores.cols(), kStreamedCols)) {}

  StreamedAdjoint<T> run() {
    const arma::uword a = scores_.rows(), b = scores_.cols();
    const arma::uword c = given_.x.n_cols, l = given_.left.n_cols, r = given_.right.n_cols;
    const bool by_rows = a >= b;
    const arma::uword quads = blocks_of(row_blocks_, kTogether);
    const arma::uword groups = std::min(kAdjointGroups, by_rows ? quads : col_blocks_);
    // A side that is divided among the groups has one matrix, the other one for every group.
    std::vector<Sums> sums(groups);
    arma::Mat<T> left(a, r, arma::fill::zeros), x(c, b, arma::fill::zeros), right(l, b, arma::fill::zeros);
    for (arma::uword g = 1; g < groups; ++g) {
      if (by_rows) {
        sums[g].x.zeros(c, b);
        sums[g].right.zeros(l, b);
      } else {
        sums[g].left.zeros(a, r);
      }
    }
    parallel_for(groups, [&](std::size_t g) {
      const Targets to{g > 0 && by_rows ? sums[g].x : x, g > 0 && by_rows ? sums[g].right : right,
                       g > 0 && !by_rows ? sums[g].left : left};
      if (by_rows) {
        for (arma::uword quad = g; quad < quads; quad += groups) {
          for (arma::uword col = 0; col < col_blocks_; ++col) column(g, col, quad, quad + 1, to);
        }
      } else {
        for (arma::uword col = g; col < col_blocks_; col += groups) column(g, col, 0, quads, to);
      }
    });
    for (arma::uword g = 1; g < groups; ++g) {
      if (by_rows) {
        x += sums[g].x;
        right += sums[g].right;
      } else {
        left += sums[g].left;
      }
    }
    return {transposed(x), std::move(left), transposed(right)};
  }

 private:
  struct Sums {
    arma::Mat<T> x, right, left;
  };
  struct Targets {
    arma::Mat<T>&x, &right;  // c x b, l x b
    arma::Mat<T>& left;      // a x r
  };
  // Blocks of rows that share a block of columns while it is in the cache.
  static constexpr arma::uword kTogether = 4;

  // One block of columns against the quads of row blocks from first to last - 1.
  void column(arma::uword group, arma::uword col, arma::uword first, arma::uword last, const Targets& to) const {
    const arma::uword j0 = col * kStreamedCols, cols = std::min(kStreamedCols, scores_.cols() - j0);
    if constexpr (requires { scores_.begin_columns(j0, cols); }) scores_.begin_columns(j0, cols);
    for (arma::uword b = first * kTogether; b < std::min(last * kTogether, row_blocks_); ++b) {
      const arma::uword i0 = b * kStreamedRows, end = b + 1 < row_blocks_ ? i0 + kStreamedRows : scores_.rows();
      arma::uword made = cols;
      if constexpr (requires { scores_.seen(i0, j0, cols); }) made = scores_.seen(end - 1, j0, cols);
      if (made > 0) add(group, i0, end - i0, j0, made, to);
    }
  }

  void add(arma::uword group, arma::uword i0, arma::uword rows, arma::uword j0, arma::uword cols,
           const Targets& to) const {
    thread_local arma::Mat<T> weights, cotangents, given_rows;  // kept by the thread, as in streamed_product()
    thread_local arma::Col<T> row_sums;
    const arma::uword c = given_.x.n_cols, l = given_.left.n_cols, r = given_.right.n_cols, a = scores_.rows();
    weights.set_size(rows, cols);
    scores_.fill(i0, j0, weights);
    row_sums.zeros(rows);
    exp_shifted_rows(weights.memptr(), rows, cols, given_.row_sums.maxima.memptr() + i0, row_sums.memptr());
    narrow_gemm(CblasNoTrans, c, cols, rows, T(1), cotangent_columns_.colptr(i0), weights.memptr(), rows, T(1),
                to.x.colptr(j0), c);
    given_rows = cotangent_.rows(i0, i0 + rows - 1);
    cotangents.set_size(rows, cols);
    narrow_gemm(CblasNoTrans, rows, cols, c, T(1), given_rows.memptr(), x_columns_.colptr(j0), c, T(0),
                cotangents.memptr(), rows);
    const T* delta = delta_.memptr() + i0;
    for (arma::uword j = 0; j < cols; ++j) {
      const T* weight = weights.colptr(j);
      T* column = cotangents.colptr(j);
      for (arma::uword i = 0; i < rows; ++i) column[i] = weight[i] * (column[i] - delta[i]);
    }
    narrow_gemm(CblasNoTrans, l, cols, rows, T(1), left_columns_.colptr(i0), cotangents.memptr(), rows, T(1),
                to.right.colptr(j0), l);
    narrow_gemm(CblasNoTrans, rows, r, cols, T(1), cotangents.memptr(), given_.right.memptr() + j0, scores_.cols(),
                T(1), to.left.memptr() + i0, a);
    if constexpr (requires { scores_.add_cotangent(group, i0, j0, cotangents); }) {
      scores_.add_cotangent(group, i0, j0, cotangents);
    }
  }

  const Scores& scores_;
  const StreamedCotangent<T>& given_;
  // Over the row sums, which divide here and not in the exponents.
  const arma::Mat<T> cotangent_;
  const arma::Col<T> delta_;
  const arma::Mat<T> x_columns_, cotangent_columns_, left_columns_;  // c x b, c x a, l x a
  const arma::uword row_blocks_, col_blocks_;
};

template <typename T, typename Scores>
StreamedAdjoint<T> streamed_adjoint(const Scores& scores, const StreamedCotangent<T>& given) {
  require(given.x.n_rows == scores.cols() && given.cotangent.n_rows == scores.rows() &&
              given.cotangent.n_cols == given.x.n_cols,
          "streamed_adjoint", "X with a row for each column of scores, G with their rows and the columns of X",
          {{"rows", scores.rows()},
           {"cols", scores.cols()},
           {"X.rows", given.x.n_rows},
           {"X.cols", given.x.n_cols},
           {"G.rows", given.cotangent.n_rows},
           {"G.cols", given.cotangent.n_cols}});
  return StreamedAdjoints<T, Scores>(scores, given).run();
}

}  // namespace croquis
