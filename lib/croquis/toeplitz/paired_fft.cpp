#include <croquis/core/require.hpp>
#include <croquis/toeplitz/paired_fft.hpp>
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
PairedFft<T>::PairedFft(arma::uword length) : length_(length) {
  constexpr auto most = static_cast<arma::uword>(std::numeric_limits<int>::max());
  require(length >= 1 && length <= most, "PairedFft", "1 <= length < 2^31", {{"length", length}});
  using Kind = FftwTransform::Kind;
  forward_ = fftw_plan<T>({Kind::complex_forward, static_cast<int>(length)});
  backward_ = fftw_plan<T>({Kind::complex_backward, static_cast<int>(length)});
}

template <typename T>
void PairedFft<T>::forward(PairedSequences<T>& from, arma::uword i, PairedSequences<T>& to, arma::uword k) const {
  forward_->complex(from.pair(i), to.pair(k));
  to.pair(k)[length_] = to.pair(k)[0];
}

template <typename T>
void PairedFft<T>::backward(PairedSequences<T>& from, arma::uword i, PairedSequences<T>& to, arma::uword k) const {
  backward_->complex(from.pair(i), to.pair(k));
}

template class PairedFft<float>;
template class PairedFft<double>;

}  // namespace croquis
