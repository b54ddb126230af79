// The parts of ToeplitzOperator that adjoints use.
#include <algorithm>
#include <croquis/toeplitz/toeplitz_operator.hpp>

namespace croquis {

template <typename T>
void ToeplitzOperator<T>::convolved(const T* factor, const T* x, T* y, bool transposed, Spectrum& spectrum,
                                    Workspace& work) const {
  load(x, factor, work.real());
  fft_->forward(work);
  spectrum.assign(work.spectrum(), work.spectrum() + fft_->spectrum_size());
  multiply_spectrum(transposed, work);
  fft_->backward(work);
  for (arma::uword r = 0; r < grid_.height(); ++r) {
    std::copy_n(work.real() + r * cols_, grid_.width(), y + r * grid_.width());
  }
}

template <typename T>
void ToeplitzOperator<T>::add_correlation(const Spectrum& a, const Spectrum& b, Spectrum& sum) const {
  // Real numbers, as in multiply_spectrum().
  const T* __restrict x = reinterpret_cast<const T*>(a.data());
  const T* __restrict y = reinterpret_cast<const T*>(b.data());
  T* __restrict s = reinterpret_cast<T*>(sum.data());
  for (std::size_t k = 0; k < 2 * a.size(); k += 2) {  // conj(x) y
    s[k] += x[k] * y[k] + x[k + 1] * y[k + 1];
    s[k + 1] += x[k] * y[k + 1] - x[k + 1] * y[k];
  }
}

template <typename T>
arma::Col<T> ToeplitzOperator<T>::weight_cotangent(const Spectrum& correlation) const {
  Workspace work = workspace();
  std::copy(correlation.begin(), correlation.end(), work.spectrum());
  fft_->backward(work);
  const arma::uword h = grid_.height(), w = grid_.width(), stride = 2 * w - 1;
  const T scale = 1 / static_cast<T>(fft_->size());
  arma::Col<T> result(grid_.size());
  for (arma::uword r = 0; r < 2 * h - 1; ++r) {
    for (arma::uword c = 0; c < stride; ++c) {
      // Entry (r, c) is of t = (r - h + 1, c - w + 1), which is negative before the middle.
      const arma::uword row = (r + rows_ - (h - 1)) % rows_, col = (c + cols_ - (w - 1)) % cols_;
      result(r * stride + c) = scale * weights_(r * stride + c) * work.real()[row * cols_ + col];
    }
  }
  return result;
}

template void ToeplitzOperator<float>::convolved(const float*, const float*, float*, bool, Spectrum&, Workspace&) const;
template void ToeplitzOperator<double>::convolved(const double*, const double*, double*, bool, Spectrum&,
                                                  Workspace&) const;
template void ToeplitzOperator<float>::add_correlation(const Spectrum&, const Spectrum&, Spectrum&) const;
template void ToeplitzOperator<double>::add_correlation(const Spectrum&, const Spectrum&, Spectrum&) const;
template arma::Col<float> ToeplitzOperator<float>::weight_cotangent(const Spectrum&) const;
template arma::Col<double> ToeplitzOperator<double>::weight_cotangent(const Spectrum&) const;

}  // namespace croquis
