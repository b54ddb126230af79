#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/nystrom/lift.hpp>
#include <limits>
#include <utility>

namespace croquis {

template <typename T>
LiftedPoints<T>::LiftedPoints(arma::Mat<T> q, arma::Mat<T> k)
    : LiftedPoints(std::make_shared<const arma::Mat<T>>(std::move(q)),
                   std::make_shared<const arma::Mat<T>>(std::move(k))) {}

template <typename T>
LiftedPoints<T>::LiftedPoints(std::shared_ptr<const arma::Mat<T>> q, std::shared_ptr<const arma::Mat<T>> k) {
  require(q->n_cols == k->n_cols && !q->is_empty() && !k->is_empty(), "LiftedPoints",
          "queries and keys of one width, one at least of each",
          {{"q.rows", q->n_rows}, {"q.cols", q->n_cols}, {"k.rows", k->n_rows}, {"k.cols", k->n_cols}});
  const auto points = std::make_shared<Points>();
  points->scale = std::pow(static_cast<T>(q->n_cols), T(-0.25));
  // The Gaussian kernel is invariant to translation, its rounding error is not.
  points->centre = points->scale / static_cast<T>(q->n_rows + k->n_rows) * (column_sums(*q) + column_sums(*k));
  points->q = std::move(q);
  points->k = std::move(k);
  points_ = points;
}

template <typename T>
LiftedPoints<T>::LiftedPoints(std::shared_ptr<const arma::Mat<T>> q, std::shared_ptr<const arma::Mat<T>> k,
                              arma::Row<T> centre, std::optional<T> largest_squared_norm)
    : LiftedPoints(std::move(q), std::move(k)) {
  require(centre.n_elem == points_->q->n_cols, "LiftedPoints", "a centre as wide as the points",
          {{"centre", centre.n_elem}, {"q.cols", points_->q->n_cols}});
  const auto points = std::make_shared<Points>();
  points->scale = points_->scale;
  points->q = points_->q;
  points->k = points_->k;
  points->centre = std::move(centre);
  if (largest_squared_norm) {
    std::call_once(points->norm_once, [&] { points->largest_squared_norm = *largest_squared_norm; });
  }
  points_ = points;
}

template <typename T>
arma::uword LiftedPoints<T>::n() const {
  require(n_q() == n_k(), "LiftedPoints::n", "as many queries as keys", {{"n_q", n_q()}, {"n_k", n_k()}});
  return n_q();
}

template <typename T>
T LiftedPoints<T>::largest_squared_norm() const {
  std::call_once(points_->norm_once, [&] {
    points_->largest_squared_norm =
        std::max(croquis::largest_squared_norm(centred_queries()), croquis::largest_squared_norm(centred_keys()));
  });
  return points_->largest_squared_norm;
}

template <typename T>
arma::Mat<T> LiftedPoints<T>::given(const arma::uvec& indices) const {
  arma::Mat<T> rows(indices.n_elem, points_->q->n_cols, arma::fill::none);
  for (arma::uword j = 0; j < indices.n_elem; ++j) {
    const arma::uword i = indices(j);
    require(i < size(), "LiftedPoints", "index < n_q + n_k", {{"index", i}, {"n_q", n_q()}, {"n_k", n_k()}});
    const arma::Mat<T>& from = i < n_q() ? *points_->q : *points_->k;
    const arma::uword row = i < n_q() ? i : i - n_q();
    for (arma::uword c = 0; c < rows.n_cols; ++c) rows(j, c) = from(row, c);
  }
  return rows;
}

template <typename T>
arma::Mat<T> LiftedPoints<T>::points(const arma::uvec& indices) const {
  arma::Mat<T> rows = given(indices);
  for (arma::uword c = 0; c < rows.n_cols; ++c) rows.col(c) = points_->scale * rows.col(c) - points_->centre[c];
  return rows;
}

template <typename T>
KernelMatrix<T> LiftedPoints<T>::kernel() const {
  const auto block = [lift = *this](const arma::uvec& rows, const arma::uvec& cols) -> arma::Mat<T> {
    const arma::Mat<T> left = lift.given(rows), right = lift.given(cols);
    return gaussian_kernel(lift.centred(left), lift.centred(right));
  };
  return {size(), arma::Col<T>(size(), arma::fill::ones), block,
          [lift = *this] { return gaussian_entry_error(lift.largest_squared_norm()); }};
}

template <typename T>
NystromBlocks<T> nystrom_blocks(const LiftedPoints<T>& lift, const arma::uvec& indices) {
  const arma::Mat<T> given = lift.given(indices);
  const CentredPoints<T> landmarks = lift.centred(given);
  return {gaussian_kernel(lift.centred_queries(), landmarks), gaussian_kernel(landmarks),
          gaussian_kernel(lift.centred_keys(), landmarks)};
}

template <typename T>
T core_cutoff(const LiftedPoints<T>& lift, arma::uword d) {
  const T cutoff =
      static_cast<T>(d) * std::numeric_limits<T>::epsilon() * gaussian_entry_error(lift.largest_squared_norm());
  return std::min(cutoff, T(0.5));
}

template class LiftedPoints<float>;
template class LiftedPoints<double>;
template NystromBlocks<float> nystrom_blocks(const LiftedPoints<float>&, const arma::uvec&);
template NystromBlocks<double> nystrom_blocks(const LiftedPoints<double>&, const arma::uvec&);
template float core_cutoff(const LiftedPoints<float>&, arma::uword);
template double core_cutoff(const LiftedPoints<double>&, arma::uword);

}  // namespace croquis
