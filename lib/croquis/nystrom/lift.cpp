#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/nystrom/lift.hpp>
#include <limits>
#include <utility>

namespace croquis {
namespace {

// scale x - 1 centre, and the largest squared norm of its rows: in one pass, for memory is what it costs.
template <typename T>
arma::Mat<T> moved(const arma::Mat<T>& x, T scale, const arma::Row<T>& centre, T& largest) {
  constexpr arma::uword block = 512;
  const arma::uword blocks = (x.n_rows + block - 1) / block;
  arma::Mat<T> result(x.n_rows, x.n_cols, arma::fill::none);
  arma::Col<T> tops(blocks);
  parallel_for(blocks, 4 * block * x.n_cols, [&](std::size_t b) {
    const arma::uword first = b * block, count = std::min(block, x.n_rows - first);
    T norms[block] = {};
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      const T *from = x.colptr(c) + first, shift = centre[c];
      T* to = result.colptr(c) + first;
      for (arma::uword i = 0; i < count; ++i) {
        to[i] = scale * from[i] - shift;
        norms[i] += to[i] * to[i];
      }
    }
    tops[b] = *std::max_element(norms, norms + count);
  });
  largest = std::max(largest, tops.max());
  return result;
}

}  // namespace

template <typename T>
LiftedPoints<T>::LiftedPoints(const arma::Mat<T>& q, const arma::Mat<T>& k) {
  require(arma::size(q) == arma::size(k) && !q.is_empty(), "LiftedPoints", "queries and keys of one size",
          {{"q.rows", q.n_rows}, {"q.cols", q.n_cols}, {"k.rows", k.n_rows}, {"k.cols", k.n_cols}});
  const T scale = std::pow(static_cast<T>(q.n_cols), T(-0.25));
  // The Gaussian kernel is invariant to translation, its rounding error is not.
  const arma::Row<T> centre = scale / 2 / static_cast<T>(q.n_rows) * (column_sums(q) + column_sums(k));
  Points points{};
  points.queries = moved(q, scale, centre, points.largest_squared_norm);
  points.keys = moved(k, scale, centre, points.largest_squared_norm);
  points_ = std::make_shared<const Points>(std::move(points));
}

template <typename T>
arma::Mat<T> LiftedPoints<T>::points(const arma::uvec& indices) const {
  arma::Mat<T> rows(indices.n_elem, queries().n_cols);
  for (arma::uword j = 0; j < indices.n_elem; ++j) {
    const arma::uword i = indices(j);
    require(i < 2 * n(), "LiftedPoints::points", "index < 2n", {{"index", i}, {"n", n()}});
    if (i < n()) {
      rows.row(j) = queries().row(i);
    } else {
      rows.row(j) = keys().row(i - n());
    }
  }
  return rows;
}

template <typename T>
KernelMatrix<T> LiftedPoints<T>::kernel() const {
  const auto block = [lift = *this](const arma::uvec& rows, const arma::uvec& cols) -> arma::Mat<T> {
    return gaussian_kernel<T>(lift.points(rows), lift.points(cols));
  };
  return {2 * n(), arma::Col<T>(2 * n(), arma::fill::ones), block, 1 + largest_squared_norm()};
}

template <typename T>
NystromBlocks<T> nystrom_blocks(const LiftedPoints<T>& lift, const arma::uvec& indices) {
  const arma::Mat<T> landmarks = lift.points(indices);
  return {gaussian_kernel(lift.queries(), landmarks), gaussian_kernel(landmarks),
          gaussian_kernel(lift.keys(), landmarks)};
}

template <typename T>
T core_cutoff(const LiftedPoints<T>& lift, arma::uword d) {
  const T cutoff = static_cast<T>(d) * std::numeric_limits<T>::epsilon() * (1 + lift.largest_squared_norm());
  return std::min(cutoff, T(0.5));
}

template class LiftedPoints<float>;
template class LiftedPoints<double>;
template NystromBlocks<float> nystrom_blocks(const LiftedPoints<float>&, const arma::uvec&);
template NystromBlocks<double> nystrom_blocks(const LiftedPoints<double>&, const arma::uvec&);
template float core_cutoff(const LiftedPoints<float>&, arma::uword);
template double core_cutoff(const LiftedPoints<double>&, arma::uword);

}  // namespace croquis
