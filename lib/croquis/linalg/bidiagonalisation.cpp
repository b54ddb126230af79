#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/bidiagonalisation.hpp>
#include <limits>

namespace croquis {
namespace {

// Removes from x its components along the first k columns of the basis. Doing this twice makes x orthogonal up to
// rounding.
template <typename T>
void reorthogonalise(arma::Col<T>& x, const arma::Mat<T>& basis, arma::uword k) {
  const SerialBlas serial;
  if (k == 0) return;
  const auto used = basis.head_cols(k);
  for (int pass = 0; pass < 2; ++pass) {
    const arma::Col<T> along = used.t() * x;
    x -= used * along;
  }
}

}  // namespace

template <typename T>
Bidiagonalisation<T>::Bidiagonalisation(arma::uword m, const arma::Col<T>& start, arma::uword max_steps)
    : left_(m, max_steps), right_(start.n_elem, max_steps), diagonal_(max_steps), super_(max_steps), v_(start) {
  const SerialBlas serial;
  const double length = arma::norm(v_);
  require(length > 0 && std::isfinite(length) && max_steps >= 1, "Bidiagonalisation",
          "a finite start that is not zero, max_steps >= 1", {{"length", length}, {"max_steps", max_steps}});
  v_ /= static_cast<T>(length);
}

template <typename T>
void Bidiagonalisation<T>::set_left(arma::Col<T> a_v) {
  const SerialBlas serial;
  right_.col(steps_) = v_;
  u_ = std::move(a_v);
  if (steps_ > 0) u_ -= static_cast<T>(super_(steps_ - 1)) * left_.col(steps_ - 1);
  reorthogonalise(u_, left_, steps_);
  if (steps_ >= u_.n_elem) u_.zeros();  // orthogonal to all of R^m: only rounding is left
  diagonal_(steps_) = arma::norm(u_);
  if (diagonal_(steps_) > 0) u_ /= static_cast<T>(diagonal_(steps_));
  left_.col(steps_) = u_;
}

template <typename T>
void Bidiagonalisation<T>::set_right(arma::Col<T> at_u) {
  const SerialBlas serial;
  at_u -= static_cast<T>(diagonal_(steps_)) * v_;
  reorthogonalise(at_u, right_, steps_ + 1);
  super_(steps_) = arma::norm(at_u);
  if (super_(steps_) > 0) v_ = at_u / static_cast<T>(super_(steps_));
  ++steps_;
}

template <typename T>
bool Bidiagonalisation<T>::invariant() const {
  const double largest = std::max(diagonal_.head(steps_).max(), super_.head(steps_).max());
  return last() <= 10 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest;
}

template <typename T>
bool Bidiagonalisation<T>::restart(arma::Col<T> direction) {
  const SerialBlas serial;
  if (full() || steps_ >= right_.n_rows) return false;
  const double before = arma::norm(direction);
  reorthogonalise(direction, right_, steps_);
  const double after = arma::norm(direction);
  if (after <= 100 * std::numeric_limits<T>::epsilon() * before) return false;
  super_(steps_ - 1) = 0;
  v_ = direction / static_cast<T>(after);
  return true;
}

template <typename T>
arma::mat Bidiagonalisation<T>::bidiagonal(bool extended) const {
  arma::mat b(steps_, steps_ + (extended ? 1 : 0), arma::fill::zeros);
  for (arma::uword k = 0; k < steps_; ++k) {
    b(k, k) = diagonal_(k);
    if (k + 1 < b.n_cols) b(k, k + 1) = super_(k);
  }
  return b;
}

template class Bidiagonalisation<float>;
template class Bidiagonalisation<double>;

}  // namespace croquis
