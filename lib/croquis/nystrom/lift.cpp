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

constexpr arma::uword kRowsPerBlock = 512;

// scale x - 1 centre.
template <typename T>
arma::Mat<T> moved(const MovedPoints<T>& points) {
  const arma::Mat<T>& x = points.x;
  arma::Mat<T> result(x.n_rows, x.n_cols, arma::fill::none);
  parallel_for(x.n_cols, 2 * x.n_rows, [&](std::size_t c) {
    const T *from = x.colptr(c), shift = (*points.centre)[c];
    T* to = result.colptr(c);
    for (arma::uword i = 0; i < x.n_rows; ++i) to[i] = points.scale * from[i] - shift;
  });
  return result;
}

// The largest squared norm of its rows.
template <typename T>
T largest_norm(const MovedPoints<T>& points) {
  const arma::Mat<T>& x = points.x;
  arma::Col<T> tops(blocks_of(x.n_rows, kRowsPerBlock));
  parallel_for(tops.n_elem, 4 * kRowsPerBlock * x.n_cols, [&](std::size_t b) {
    const arma::uword first = b * kRowsPerBlock, count = std::min(kRowsPerBlock, x.n_rows - first);
    T norms[kRowsPerBlock] = {};
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      const T *from = x.colptr(c) + first, shift = (*points.centre)[c];
      for (arma::uword i = 0; i < count; ++i) {
        const T entry = points.scale * from[i] - shift;
        norms[i] += entry * entry;
      }
    }
    tops[b] = *std::max_element(norms, norms + count);
  });
  return tops.max();
}

}  // namespace

template <typename T>
LiftedPoints<T>::LiftedPoints(arma::Mat<T> q, arma::Mat<T> k)
    : LiftedPoints(std::make_shared<const arma::Mat<T>>(std::move(q)),
                   std::make_shared<const arma::Mat<T>>(std::move(k))) {}

template <typename T>
LiftedPoints<T>::LiftedPoints(std::shared_ptr<const arma::Mat<T>> q, std::shared_ptr<const arma::Mat<T>> k) {
  require(arma::size(*q) == arma::size(*k) && !q->is_empty(), "LiftedPoints", "queries and keys of one size",
          {{"q.rows", q->n_rows}, {"q.cols", q->n_cols}, {"k.rows", k->n_rows}, {"k.cols", k->n_cols}});
  const auto points = std::make_shared<Points>();
  points->scale = std::pow(static_cast<T>(q->n_cols), T(-0.25));
  // The Gaussian kernel is invariant to translation, its rounding error is not.
  points->centre = points->scale / 2 / static_cast<T>(q->n_rows) * (column_sums(*q) + column_sums(*k));
  points->q = std::move(q);
  points->k = std::move(k);
  points_ = points;
}

template <typename T>
const arma::Mat<T>& LiftedPoints<T>::queries() const {
  std::call_once(points_->queries_once, [&] { points_->queries = moved(moved_queries()); });
  return points_->queries;
}

template <typename T>
const arma::Mat<T>& LiftedPoints<T>::keys() const {
  std::call_once(points_->keys_once, [&] { points_->keys = moved(moved_keys()); });
  return points_->keys;
}

template <typename T>
T LiftedPoints<T>::largest_squared_norm() const {
  std::call_once(points_->norm_once, [&] {
    points_->largest_squared_norm = std::max(largest_norm(moved_queries()), largest_norm(moved_keys()));
  });
  return points_->largest_squared_norm;
}

template <typename T>
arma::Mat<T> LiftedPoints<T>::points(const arma::uvec& indices) const {
  arma::Mat<T> rows(indices.n_elem, points_->q->n_cols, arma::fill::none);
  for (arma::uword j = 0; j < indices.n_elem; ++j) {
    const arma::uword i = indices(j);
    require(i < 2 * n(), "LiftedPoints::points", "index < 2n", {{"index", i}, {"n", n()}});
    const arma::Mat<T>& from = i < n() ? *points_->q : *points_->k;
    const arma::uword row = i < n() ? i : i - n();
    for (arma::uword c = 0; c < rows.n_cols; ++c) rows(j, c) = points_->scale * from(row, c) - points_->centre[c];
  }
  return rows;
}

template <typename T>
KernelMatrix<T> LiftedPoints<T>::kernel() const {
  const auto block = [lift = *this](const arma::uvec& rows, const arma::uvec& cols) -> arma::Mat<T> {
    return gaussian_kernel<T>(lift.points(rows), lift.points(cols));
  };
  return {2 * n(), arma::Col<T>(2 * n(), arma::fill::ones), block,
          [lift = *this] { return 1 + lift.largest_squared_norm(); }};
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
