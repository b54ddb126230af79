#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/randomised_svd.hpp>
#include <croquis/random/normal_matrix.hpp>
#include <stdexcept>

namespace croquis {
namespace {

template <typename T>
arma::Mat<T> orthonormal(const arma::Mat<T>& columns) {
  const SerialBlas serial;
  arma::Mat<T> q, r;
  if (!arma::qr_econ(q, r, columns)) throw std::runtime_error("randomised_svd: QR failed");
  return q;
}

}  // namespace

template <typename T>
TruncatedSvd<T> randomised_svd(const LinearOperator<T>& a, arma::uword k, const Key& key,
                               const RandomisedSvdOptions& options) {
  const SerialBlas serial;
  const arma::uword most = std::min(a.rows, a.cols);
  require(k >= 1 && k <= most && options.iterations >= 0, "randomised_svd", "1 <= k <= min(m, n), iterations >= 0",
          {{"k", k}, {"m", a.rows}, {"n", a.cols}, {"iterations", options.iterations}});
  const auto start = normal_matrix<T>(key, a.cols, k + std::min(most - k, options.oversampling));
  arma::Mat<T> range = orthonormal<T>(a.apply(start));
  for (int i = 0; i < options.iterations; ++i) {
    range = orthonormal<T>(a.apply(orthonormal<T>(a.apply_transposed(range))));
  }
  TruncatedSvd<T> svd;
  arma::Mat<T> left;
  const arma::Mat<T> projected = a.apply_transposed(range);
  if (!projected.is_finite()) throw std::runtime_error("randomised_svd: a product with the operator is not finite");
  if (!arma::svd_econ(svd.right, svd.values, left, projected)) {
    throw std::runtime_error("randomised_svd: the singular value solver failed");
  }
  svd.values = svd.values.head(k).eval();
  svd.right = svd.right.head_cols(k).eval();
  svd.left = range * left.head_cols(k);
  arma::Mat<T> rest = a.apply(svd.right);
  rest -= svd.left * arma::diagmat(svd.values);
  svd.residual = static_cast<double>(frobenius_norm(rest));
  return svd;
}

template TruncatedSvd<float> randomised_svd(const LinearOperator<float>&, arma::uword, const Key&,
                                            const RandomisedSvdOptions&);
template TruncatedSvd<double> randomised_svd(const LinearOperator<double>&, arma::uword, const Key&,
                                             const RandomisedSvdOptions&);

}  // namespace croquis
