#include <croquis/core/require.hpp>
#include <croquis/toeplitz/real_fft.hpp>
#include <limits>

namespace croquis {

arma::uword fft_friendly_length(arma::uword n) {
  if (n <= 1) return 1;
  for (arma::uword length = n + n % 2;; length += 2) {
    arma::uword rest = length;
    for (const arma::uword factor : {2U, 3U, 5U, 7U}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return length;
  }
}

template <typename T>
RealFft<T>::RealFft(arma::uword rows, arma::uword cols) : rows_(rows), cols_(cols) {
  constexpr auto most = static_cast<arma::uword>(std::numeric_limits<int>::max());
  require(rows >= 1 && cols >= 1 && rows <= most && cols <= most, "RealFft", "1 <= rows, cols < 2^31",
          {{"rows", rows}, {"cols", cols}});
  using Kind = FftwTransform::Kind;
  forward_ = fftw_plan<T>({Kind::real_forward, static_cast<int>(rows), static_cast<int>(cols)});
  backward_ = fftw_plan<T>({Kind::real_backward, static_cast<int>(rows), static_cast<int>(cols)});
}

template <typename T>
RealFft<T>::Workspace::Workspace(const RealFft& fft)
    : real_(fftw_array<T>(fft.size())), spectrum_(fftw_array<std::complex<T>>(fft.spectrum_size())) {}

template <typename T>
void RealFft<T>::forward(Workspace& workspace) const {
  forward_->forward(workspace.real(), workspace.spectrum());
}

template <typename T>
void RealFft<T>::backward(Workspace& workspace) const {
  backward_->backward(workspace.spectrum(), workspace.real());
}

template class RealFft<float>;
template class RealFft<double>;

}  // namespace croquis
