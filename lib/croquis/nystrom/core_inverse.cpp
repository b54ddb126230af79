#include <croquis/linalg/products.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/nystrom/core_inverse.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace croquis {

template <typename T>
CoreInverse<T> invert_core(const arma::Mat<T>& core, T relative_cutoff) {
  const arma::uword d = core.n_rows;
  if (std::optional<arma::Mat<T>> root = inverse_root_psd(core, relative_cutoff)) {  // nothing to cut off
    const auto r = std::make_shared<const arma::Mat<T>>(std::move(*root));
    const auto apply = [r](const arma::Mat<T>& x) { return product(*r, product_tn(*r, x)); };
    return {{d, d, apply, apply}, d};
  }
  const auto pinv = std::make_shared<const PseudoInverse<T>>(pseudo_inverse_psd(core, relative_cutoff));
  const auto apply = [pinv](const arma::Mat<T>& x) { return pinv->apply(x); };
  return {{d, d, apply, apply}, pinv->rank()};
}

template struct CoreInverse<float>;
template struct CoreInverse<double>;
template CoreInverse<float> invert_core(const arma::Mat<float>&, float);
template CoreInverse<double> invert_core(const arma::Mat<double>&, double);

}  // namespace croquis
