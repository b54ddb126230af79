#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <stdexcept>

namespace croquis {
namespace {

template <typename T>
void require_cutoff(T cutoff, const char* where) {
  require(cutoff >= 0 && cutoff < 1, where, "0 <= relative_cutoff < 1", {{"relative_cutoff", cutoff}});
}

}  // namespace

template <typename T>
arma::Mat<T> PseudoInverse<T>::apply(const arma::Mat<T>& x) const {
  arma::Mat<T> y = product_tn(left, x);
  y.each_col() /= values;
  return product(right, y);
}

template <typename T>
arma::Mat<T> PseudoInverse<T>::apply_transposed(const arma::Mat<T>& x) const {
  arma::Mat<T> y = product_tn(right, x);
  y.each_col() /= values;
  return product(left, y);
}

template <typename T>
PseudoInverse<T> pseudo_inverse_psd(const arma::Mat<T>& a, T relative_cutoff) {
  const SerialBlas serial;
  require(a.n_rows == a.n_cols, "pseudo_inverse_psd", "a square matrix", {{"rows", a.n_rows}, {"cols", a.n_cols}});
  require_cutoff(relative_cutoff, "pseudo_inverse_psd");
  arma::Col<T> eigenvalues;  // ascending
  arma::Mat<T> vectors;
  if (!arma::eig_sym(eigenvalues, vectors, arma::symmatu(a))) {
    throw std::runtime_error("pseudo_inverse_psd: the eigenvalue solver failed");
  }
  PseudoInverse<T> inverse;
  if (a.is_empty()) return inverse;
  inverse.largest = std::max(eigenvalues.max(), T(0));
  const arma::uvec kept = arma::reverse(arma::find(eigenvalues > relative_cutoff * inverse.largest));
  inverse.left = vectors.cols(kept);
  inverse.right = inverse.left;
  inverse.values = eigenvalues.elem(kept);
  return inverse;
}

template <typename T>
std::optional<arma::Mat<T>> inverse_root_psd(const arma::Mat<T>& a, T relative_cutoff) {
  const SerialBlas serial;
  require(a.n_rows == a.n_cols, "inverse_root_psd", "a square matrix", {{"rows", a.n_rows}, {"cols", a.n_cols}});
  require_cutoff(relative_cutoff, "inverse_root_psd");
  arma::Mat<T> root, inverse;
  if (!arma::chol(root, a) || !arma::inv(inverse, arma::trimatu(root))) return std::nullopt;
  const T norm = frobenius_norm(inverse);
  const bool sure = norm * norm * relative_cutoff * arma::norm(a, 1) < 1;  // also false for a norm that is not finite
  return sure ? std::optional(std::move(inverse)) : std::nullopt;
}

template <typename T>
PseudoInverse<T> pseudo_inverse(const arma::Mat<T>& a, T relative_cutoff) {
  const SerialBlas serial;
  require_cutoff(relative_cutoff, "pseudo_inverse");
  arma::Mat<T> u, v;
  arma::Col<T> singular;  // descending
  if (!arma::svd_econ(u, singular, v, a)) {
    throw std::runtime_error("pseudo_inverse: the singular value solver failed");
  }
  PseudoInverse<T> inverse;
  if (a.is_empty()) return inverse;
  inverse.largest = singular.max();
  const arma::uvec kept = arma::find(singular > relative_cutoff * inverse.largest);
  inverse.left = u.cols(kept);
  inverse.right = v.cols(kept);
  inverse.values = singular.elem(kept);
  return inverse;
}

template struct PseudoInverse<float>;
template struct PseudoInverse<double>;
template PseudoInverse<float> pseudo_inverse_psd(const arma::Mat<float>&, float);
template PseudoInverse<double> pseudo_inverse_psd(const arma::Mat<double>&, double);
template std::optional<arma::Mat<float>> inverse_root_psd(const arma::Mat<float>&, float);
template std::optional<arma::Mat<double>> inverse_root_psd(const arma::Mat<double>&, double);
template PseudoInverse<float> pseudo_inverse(const arma::Mat<float>&, float);
template PseudoInverse<double> pseudo_inverse(const arma::Mat<double>&, double);

}  // namespace croquis
