#include <algorithm>
#include <cmath>
#include <croquis/kernel/direct_exponents.hpp>
#include <croquis/linalg/row_math.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <limits>

namespace croquis {

template <typename T>
DirectExponents<T>::DirectExponents(const GivenRows<T>& x, const GivenRows<T>& y, T scale, T centre_norm)
    : x_(x),
      y_(y),
      scale_(scale),
      // Not 0, which times the norm of a point whose square overflows would be NaN.
      centre_norm_(std::max(centre_norm, std::numeric_limits<T>::min())),
      largest_of_x_(0),
      needed_(false) {
  if (x.count == 0 || y.count == 0) return;
  largest_of_x_ = rounding(maximum(x.half_norms, x.count));
  needed_ = largest_of_x_ + rounding(maximum(y.half_norms, y.count)) > kProductRounding<T>;
  if (!needed_) return;
  // Copied without gaps, because the columns of a tall matrix would compete for the same lines of the cache.
  arma::Mat<T>& rows = rows_of_thread();
  rows = x.x.rows(x.first, x.first + x.count - 1);
}

template <typename T>
arma::Mat<T>& DirectExponents<T>::rows_of_thread() {
  thread_local arma::Mat<T> rows;
  return rows;
}

template <typename T>
T DirectExponents<T>::rounding(T half_norm) const {
  return half_norm + centre_norm_ * std::sqrt(2 * half_norm);
}

template <typename T>
void DirectExponents<T>::correct(arma::uword j, T* exponents) const {
  const T of_y = rounding(y_.half_norms[j]), most = largest_of_x_ + of_y;
  if (most <= kProductRounding<T>) return;
  const arma::uword p = x_.x.n_cols;
  const T error = 2 * static_cast<T>(p + 8) * std::numeric_limits<T>::epsilon() * most;
  static const T lowest = std::log(std::numeric_limits<T>::min());
  if (maximum(exponents, x_.count) < lowest - error) return;
  thread_local arma::Col<T> point, squares;
  point.set_size(p);
  squares.set_size(x_.count);
  for (arma::uword c = 0; c < p; ++c) point[c] = y_.x(y_.first + j, c);
  squared_distances(rows_of_thread().memptr(), x_.count, p, point.memptr(), squares.memptr());
  const T factor = T(-0.5) * scale_ * scale_;
  for (arma::uword i = 0; i < x_.count; ++i) {
    if (rounding(x_.half_norms[i]) + of_y > kProductRounding<T>) exponents[i] = factor * squares[i];
  }
}

template class DirectExponents<float>;
template class DirectExponents<double>;

}  // namespace croquis
