#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/products.hpp>
#include <stdexcept>
#include <string>

namespace croquis {
namespace {

// I - M, and its Frobenius norm.
template <typename T>
double residual_of(const arma::Mat<T>& m, arma::Mat<T>& difference) {
  difference.set_size(arma::size(m));
  arma::Col<T> squares(m.n_cols);
  parallel_for(m.n_cols, 4 * m.n_rows, [&](std::size_t j) {
    const T* from = m.colptr(j);
    T* to = difference.colptr(j);
    for (arma::uword i = 0; i < m.n_rows; ++i) to[i] = -from[i];
    to[j] += T(1);
    const arma::Col<T> column(to, m.n_rows, false, true);
    squares[j] = arma::dot(column, column);
  });
  const auto sum = static_cast<double>(arma::accu(squares));
  return std::isnormal(sum) ? std::sqrt(sum) : static_cast<double>(frobenius_norm<T>(difference));
}

}  // namespace

template <typename T>
arma::Mat<T> inverse_start(const arma::Mat<T>& n, InverseStart start) {
  const SerialBlas serial;
  if (start == InverseStart::identity) return arma::Mat<T>(n.n_rows, n.n_rows, arma::fill::eye);
  const T column = arma::norm(n, 1), row = start == InverseStart::transpose_both ? arma::norm(n, "inf") : T(1);
  if (column == 0) throw std::runtime_error("iterative_inverse: the matrix is zero");
  return n.t() / column / row;  // the product of the norms would overflow, or vanish
}

void require_no_growth(const char* name, int step, double before, double after, const InverseIteration& options) {
  const bool is_symmetric = options.symmetric || options.start != InverseStart::identity;
  // In a tenth there is no rounding; and where many E are 1, outputs are good until the norm has grown by about that.
  const bool grows = is_symmetric && after > 1 && after > 1.1 * before;
  if (std::isfinite(after) && !grows) return;
  throw std::runtime_error(std::string(name) + ": diverged in step " + std::to_string(step) +
                           "; take fewer steps: where singular values are near 0, each makes rounding 13/4 times as "
                           "large (or the start does not suit the matrix)");
}

template <typename T>
IterativeInverse<T> iterative_inverse(const arma::Mat<T>& n, const InverseIteration& options) {
  require(n.n_rows == n.n_cols && n.n_rows > 0, "iterative_inverse", "a square matrix",
          {{"rows", n.n_rows}, {"cols", n.n_cols}});
  require(options.iterations >= 0, "iterative_inverse", "iterations >= 0", {{"iterations", options.iterations}});
  IterativeInverse<T> result{inverse_start(n, options.start), 0, 0};
  // Also of a symmetric N the products are whole. Rounding leaves an N Z that is not symmetric, and what a mirrored
  // half of it makes of that is multiplied by ||N|| ||N^-1|| in each step. c I - M needs no pass of its own: products
  // are computed with the right sign, and c I is added to the diagonal.
  arma::Mat<T> nz, inner;
  const auto look = [&] {
    nz = product(n, result.inverse);
    result.residual = residual_of(nz, inner);
  };
  look();
  if (!std::isfinite(result.residual))
    throw std::runtime_error("iterative_inverse: the entries are not finite, or their products are not");
  while (result.iterations < options.iterations && result.residual > 0) {
    inner.diag() += T(6);  // 7 I - N Z
    inner = product(nz, inner, T(-1));
    inner.diag() += T(15);
    inner = product(nz, inner, T(-1));
    inner.diag() += T(13);
    result.inverse = product(result.inverse, inner, T(0.25));
    const double before = result.residual;
    look();
    require_no_growth("iterative_inverse", ++result.iterations, before, result.residual, options);
  }
  return result;
}

template arma::Mat<float> inverse_start(const arma::Mat<float>&, InverseStart);
template arma::Mat<double> inverse_start(const arma::Mat<double>&, InverseStart);
template IterativeInverse<float> iterative_inverse(const arma::Mat<float>&, const InverseIteration&);
template IterativeInverse<double> iterative_inverse(const arma::Mat<double>&, const InverseIteration&);

}  // namespace croquis
