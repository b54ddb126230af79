#include <algorithm>
#include <cmath>
#include <croquis/core/serial_blas.hpp>
#include <croquis/features/feature_adjoint.hpp>
#include <croquis/linalg/rows.hpp>
#include <functional>
#include <limits>
#include <utility>

namespace croquis {
namespace {

constexpr arma::uword kRowsPerBlock = 512;

bool has_exponent(FeatureMap map) {
  return map == FeatureMap::oprf || map == FeatureMap::saderf;
}

}  // namespace

template <typename T>
FeatureAdjoint<T>::FeatureAdjoint(const FeaturePair<T>& pair)
    : pair_(pair),
      directions_(pair.projection_.dense()),
      norms_(squared_row_norms<T>(directions_) / (pair.scale_ * pair.scale_)),
      queries_(empty_side(pair.x_->n_rows)),
      keys_(empty_side(pair.y_->n_rows)) {
  if (pair_.options_.epsilon == 0) return;
  // The feature of every query with the largest exponent, and of all keys the one that has the key shift.
  const arma::span all(0, pair_.directions() - 1);
  const auto find = [&](const arma::Mat<T>& points, Side& side, const std::function<void(arma::uword, T)>& found) {
    side.largest.zeros(points.n_rows);
    for (arma::uword first = 0; first < points.n_rows; first += kRowsPerBlock) {
      const arma::uword last = std::min(first + kRowsPerBlock, points.n_rows) - 1;
      arma::Mat<T> exponents = pair_.exponents(points.rows(first, last), all);
      if (pair_.functions_ == 2) exponents = arma::join_rows(exponents, -exponents);
      for (arma::uword i = first; i <= last; ++i) {
        side.largest[i] = exponents.row(i - first).index_max();
        found(i, exponents(i - first, side.largest[i]));
      }
    }
  };
  find(*pair_.x_, queries_, [](arma::uword, T) {});
  T top = -std::numeric_limits<T>::infinity();
  find(*pair_.y_, keys_, [&](arma::uword j, T exponent) {
    if (exponent <= top) return;
    top = exponent;
    largest_key_ = j;
  });
}

template <typename T>
typename FeatureAdjoint<T>::Side FeatureAdjoint<T>::empty_side(arma::uword tokens) const {
  Side side;
  side.points.zeros(tokens, directions_.n_cols);
  side.sums.zeros(tokens);
  side.norm_sums.zeros(tokens);
  return side;
}

template <typename T>
void FeatureAdjoint<T>::add(Side& side, const arma::uvec& tokens, arma::span directions, const arma::Mat<T>& features,
                            const arma::Mat<T>& cotangent) const {
  const SerialBlas serial;
  const arma::uword c = directions.b - directions.a + 1;
  arma::Mat<T> of_exponents(features.n_rows, c, arma::fill::none);
  if (pair_.options_.map == FeatureMap::trf) {
    of_exponents = cotangent.head_cols(c) % features.tail_cols(c) - cotangent.tail_cols(c) % features.head_cols(c);
    side.sums.rows(tokens) += arma::sum(cotangent % features, 1);
  } else {
    const T epsilon = static_cast<T>(pair_.options_.epsilon);
    const arma::Mat<T> all = cotangent % (features - epsilon);
    side.sums.rows(tokens) += arma::sum(all, 1);
    of_exponents = all.head_cols(c);
    if (pair_.functions_ == 2) of_exponents -= all.tail_cols(c);
  }
  if (has_exponent(pair_.options_.map)) {
    side.norm_sums.rows(tokens) += of_exponents * norms_.rows(directions.a, directions.b);
  }
  of_exponents.each_row() %= pair_.slopes_.cols(directions.a, directions.b);
  side.points.rows(tokens) += of_exponents * directions_.rows(directions.a, directions.b);
}

template <typename T>
void FeatureAdjoint<T>::add_queries(const arma::uvec& tokens, arma::span directions, const arma::Mat<T>& features,
                                    const arma::Mat<T>& cotangent) {
  add(queries_, tokens, directions, features, cotangent);
}

template <typename T>
void FeatureAdjoint<T>::add_keys(const arma::uvec& tokens, arma::span directions, const arma::Mat<T>& features,
                                 const arma::Mat<T>& cotangent) {
  add(keys_, tokens, directions, features, cotangent);
}

template <typename T>
arma::Row<T> FeatureAdjoint<T>::slope_of(arma::uword feature) const {
  const arma::uword m = pair_.directions(), r = feature % m;
  return (feature < m ? pair_.slopes_[r] : -pair_.slopes_[r]) * directions_.row(r);
}

template <typename T>
double FeatureAdjoint<T>::by_exponent(arma::uword feature, const arma::Row<T>& point) const {
  const T u = arma::dot(directions_.row(feature), point);  // maps with an exponent have one feature a direction
  return static_cast<double>(norms_[feature] - 2 * u / pair_.slopes_[feature]);
}

// With epsilon > 0: what the shift of a row, or of all keys, takes from all exponents goes to the largest one.
template <typename T>
void FeatureAdjoint<T>::add_shifts(double& of_exponent) {
  const auto move = [&](Side& side, arma::uword token, const arma::Mat<T>& points, T sum) {
    const arma::uword feature = side.largest[token];
    side.points.row(token) -= sum * slope_of(feature);
    if (has_exponent(pair_.options_.map)) {
      of_exponent -= static_cast<double>(sum) * by_exponent(feature, points.row(token));
    }
  };
  for (arma::uword i = 0; i < queries_.sums.n_elem; ++i) move(queries_, i, *pair_.x_, queries_.sums[i]);
  move(keys_, largest_key_, *pair_.y_, arma::accu(keys_.sums));
}

// a is a function of s = mean ||scale (x_i + y_j)||^2, see optimal_exponent().
template <typename T>
void FeatureAdjoint<T>::add_exponent(double of_exponent) {
  const arma::Mat<T>&x = *pair_.x_, &y = *pair_.y_;
  const auto width = static_cast<double>(x.n_cols), scale = static_cast<double>(pair_.scale_);
  const arma::Row<T> mean_x = arma::mean(x, 0), mean_y = arma::mean(y, 0);
  const double s = scale * scale *
                   static_cast<double>(arma::mean(squared_row_norms(x)) + arma::mean(squared_row_norms(y)) +
                                       2 * arma::dot(mean_x, mean_y));
  if (!(s > 0)) return;  // a = 0 is an end of its range
  const double b = 2 * s + width, root = b * std::sqrt(1 + 8 * (width / b) * (s / b));
  const double by_s = -((2 * b + 4 * width) / root + 2) / (16 * width);
  const double factor = of_exponent * by_s * 2 * scale * scale;
  queries_.points += static_cast<T>(factor / static_cast<double>(x.n_rows)) * (x.each_row() + mean_y);
  keys_.points += static_cast<T>(factor / static_cast<double>(y.n_rows)) * (y.each_row() + mean_x);
}

// From the points Psi x and Psi^-1 y to x and y. What raised_squares() adds to the mean squares is held constant.
template <typename T>
void FeatureAdjoint<T>::undo_balance() {
  const arma::Row<T>& psi = pair_.balance_;
  arma::Mat<T> x = pair_.x_->each_row() / psi, y = pair_.y_->each_row() % psi;
  const auto n_x = static_cast<T>(x.n_rows), n_y = static_cast<T>(y.n_rows);
  const arma::Row<T> of_log_psi = arma::sum(queries_.points % *pair_.x_, 0) - arma::sum(keys_.points % *pair_.y_, 0);
  const arma::Row<T> roots_x = arma::conv_to<arma::Row<T>>::from(arma::sqrt(raised_squares(x))),
                     roots_y = arma::conv_to<arma::Row<T>>::from(arma::sqrt(raised_squares(y)));
  queries_.points.each_row() %= psi;
  keys_.points.each_row() /= psi;
  if (roots_x.min() == 0 || roots_y.min() == 0) return;
  x.each_row() /= roots_x;
  y.each_row() /= roots_y;
  queries_.points -= x.each_row() % (of_log_psi / (2 * n_x * roots_x));
  keys_.points += y.each_row() % (of_log_psi / (2 * n_y * roots_y));
}

template <typename T>
typename FeatureAdjoint<T>::Points FeatureAdjoint<T>::finish() {
  const SerialBlas serial;
  const FeatureMap map = pair_.options_.map;
  const arma::Mat<T>&x = *pair_.x_, &y = *pair_.y_;
  double of_exponent = 0;
  if (has_exponent(map)) {
    const auto of = [&](const Side& side, const arma::Mat<T>& points) {
      const T slope = pair_.slopes_[0];
      const arma::Col<T> sums = side.norm_sums - (2 / slope / slope) * row_products(points, side.points);
      return static_cast<double>(arma::accu(sums));
    };
    of_exponent = of(queries_, x) + of(keys_, y);
  }
  const T square = pair_.scale_ * pair_.scale_;
  if (pair_.options_.epsilon > 0) {
    add_shifts(of_exponent);
    queries_.points -= square * (x.each_col() % queries_.sums);  // their log-prefactors; else they cancel
  }
  keys_.points += (map == FeatureMap::trf ? square : -square) * (y.each_col() % keys_.sums);
  if (has_exponent(map)) add_exponent(of_exponent);
  if (map == FeatureMap::saderf) undo_balance();
  return {std::move(queries_.points), std::move(keys_.points)};
}

template class FeatureAdjoint<float>;
template class FeatureAdjoint<double>;

}  // namespace croquis
