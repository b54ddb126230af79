#include <algorithm>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/sampling/column_norms.hpp>

namespace croquis {
namespace {
constexpr arma::uword kRowsAtOnce = 256;
constexpr arma::uword kGroups = 64;  // of blocks, each with sums of squares of its own
}  // namespace

template <typename T>
ColumnNorms<T> column_norms(const arma::Mat<T>& q, const arma::Mat<T>& k) {
  ColumnNorms<T> result;
  result.row_sums.maxima.set_size(q.n_rows);
  result.row_sums.sums.set_size(q.n_rows);
  const arma::uword blocks = blocks_of(q.n_rows, kRowsAtOnce), groups = std::min(blocks, kGroups);
  arma::Mat<T> squares(k.n_rows, groups, arma::fill::zeros);
  parallel_for(groups, [&](std::size_t g) {
    for (arma::uword b = g * blocks / groups; b < (g + 1) * blocks / groups; ++b) {
      const arma::uword first = b * kRowsAtOnce, last = std::min(first + kRowsAtOnce, q.n_rows) - 1;
      arma::Mat<T> scores = scores_transposed<T>(q.rows(first, last), k);
      const RowSums<T> block = softmax_columns(scores);
      result.row_sums.maxima.subvec(first, last) = block.maxima;
      result.row_sums.sums.subvec(first, last) = block.sums;
      squares.col(g) += arma::sum(arma::square(scores), 1);
    }
  });
  result.norms = arma::sqrt(arma::sum(squares, 1));
  return result;
}

template struct ColumnNorms<float>;
template struct ColumnNorms<double>;
template ColumnNorms<float> column_norms(const arma::Mat<float>&, const arma::Mat<float>&);
template ColumnNorms<double> column_norms(const arma::Mat<double>&, const arma::Mat<double>&);

}  // namespace croquis
