// The parts of ToeplitzOperator that adjoints use.
#include <croquis/toeplitz/toeplitz_operator.hpp>

namespace croquis {

template <typename T>
arma::Col<T> ToeplitzOperator<T>::weight_cotangent(const Spectra<T>& correlation) const {
  PairedSequences<T> transforms(2 * layout_.phases - 1, layout_.length), sums(2 * layout_.phases - 1, layout_.length);
  join(correlation, transforms);
  for (arma::uword p = 0; p < sums.pairs(); ++p) fft_->backward(transforms, p, sums, p);
  const T scale = 1 / static_cast<T>(layout_.length);
  arma::Col<T> result(grid_.size(), arma::fill::zeros);
  layout_.for_each_bias(grid_, [&](arma::uword kernel, arma::uword place, arma::uword entry) {
    result(entry) += scale * weights_(entry) * sums.at(kernel, place);
  });
  return result;
}

template arma::Col<float> ToeplitzOperator<float>::weight_cotangent(const Spectra<float>&) const;
template arma::Col<double> ToeplitzOperator<double>::weight_cotangent(const Spectra<double>&) const;

}  // namespace croquis
