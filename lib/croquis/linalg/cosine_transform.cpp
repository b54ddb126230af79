#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/linalg/cosine_transform.hpp>
#include <limits>
#include <numbers>

namespace croquis {

template <typename T>
CosineTransform<T>::CosineTransform(arma::uword n) : n_(n) {
  require(n >= 1 && n <= static_cast<arma::uword>(std::numeric_limits<int>::max()), "CosineTransform", "1 <= n < 2^31",
          {{"n", n}});
  forward_ = fftw_plan<T>({FftwTransform::Kind::cosine, static_cast<int>(n)});
  back_ = fftw_plan<T>({FftwTransform::Kind::cosine_back, static_cast<int>(n)});
}

// FFTW's REDFT10 is 2 sum_i x_i cos(pi (2i + 1) k / 2n); its REDFT01 is x_0 + 2 sum_k x_k cos(pi k (2i + 1) / 2n).
template <typename T>
void CosineTransform<T>::apply(T* x) const {
  forward_->in_place(x);
  const T scale = 1 / std::sqrt(2 * static_cast<T>(n_));
  x[0] *= 1 / (2 * std::sqrt(static_cast<T>(n_)));
  for (arma::uword k = 1; k < n_; ++k) x[k] *= scale;
}

template <typename T>
void CosineTransform<T>::apply_transposed(T* x) const {
  const T scale = 1 / std::sqrt(2 * static_cast<T>(n_));
  x[0] *= 1 / std::sqrt(static_cast<T>(n_));
  for (arma::uword k = 1; k < n_; ++k) x[k] *= scale;
  back_->in_place(x);
}

template <typename T>
T CosineTransform<T>::entry(arma::uword k, arma::uword i) const {
  const auto n = static_cast<double>(n_);
  if (k == 0) return static_cast<T>(1 / std::sqrt(n));
  const arma::uword steps = (2 * i + 1) * k % (4 * n_);  // of pi / 2n
  return static_cast<T>(std::sqrt(2 / n) * std::cos(std::numbers::pi * static_cast<double>(steps) / (2 * n)));
}

template class CosineTransform<float>;
template class CosineTransform<double>;

}  // namespace croquis
