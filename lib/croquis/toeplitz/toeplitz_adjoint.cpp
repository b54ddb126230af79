// The parts of ToeplitzOperator that adjoints use.
#include <algorithm>
#include <croquis/toeplitz/toeplitz_operator.hpp>

namespace croquis {

template <typename T>
void ToeplitzOperator<T>::convolved(const T* factor, const T* x, T* y, bool transposed, Spectra<T>& spectra,
                                    Workspace& work) const {
  convolve(factor, x, transposed, &spectra, work);
  const arma::uword each = 2 * layout_.positions;
  for (arma::uword p = 0; p < work.other.pairs(); ++p) std::copy_n(work.other.numbers(p), each, y + p * each);
}

template <typename T>
arma::Col<T> ToeplitzOperator<T>::weight_cotangent(const Spectra<T>& correlation) const {
  PairedSequences<T> transforms(2 * layout_.phases - 1, layout_.length), sums(2 * layout_.phases - 1, layout_.length);
  join(correlation, transforms);
  fft_->backward(transforms, sums);
  const T scale = 1 / static_cast<T>(layout_.length);
  arma::Col<T> result(grid_.size(), arma::fill::zeros);
  layout_.for_each_bias(grid_, [&](arma::uword kernel, arma::uword place, arma::uword entry) {
    result(entry) += scale * weights_(entry) * sums.at(kernel, place);
  });
  return result;
}

template void ToeplitzOperator<float>::convolved(const float*, const float*, float*, bool, Spectra<float>&,
                                                 Workspace&) const;
template void ToeplitzOperator<double>::convolved(const double*, const double*, double*, bool, Spectra<double>&,
                                                  Workspace&) const;
template arma::Col<float> ToeplitzOperator<float>::weight_cotangent(const Spectra<float>&) const;
template arma::Col<double> ToeplitzOperator<double>::weight_cotangent(const Spectra<double>&) const;

}  // namespace croquis
