// KernelizedScores::adjoint: the derivatives of a Nystrom approximation of the lift.
#include <croquis/attention/kernelized_scores.hpp>
#include <croquis/attention/normalised_core.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/gaussian_adjoint.hpp>
#include <croquis/linalg/inverse_adjoint.hpp>
#include <croquis/linalg/products.hpp>
#include <utility>

namespace croquis {
namespace {

// The derivatives of <E, r Z r> by C, Z the iterative inverse of N = r C r.
template <typename T>
arma::Mat<T> normalised_adjoint(const arma::Mat<T>& c, const InverseIteration& iteration, const arma::Mat<T>& e) {
  const NormalisedCore<T> n(c);
  const arma::Mat<T> z = iterative_inverse(n.matrix, iteration).inverse;
  const arma::Mat<T> of_n = iterative_inverse_adjoint(n.matrix, iteration, n.between(e));
  // r stands on both sides of C and of Z: (H + H^T) r for the entrywise products H.
  const arma::Mat<T> h = e % z + of_n % c;
  const arma::Col<T> of_root = h * n.root + h.t() * n.root;
  arma::Mat<T> result = n.between(of_n);
  result.each_col() -= T(0.5) * of_root % n.root % n.root % n.root;
  return result;
}

}  // namespace

// The derivatives by W of <of_applied, f(W) gathered>, f(W) gathered = applied, f(W)^T of_applied = of_gathered.
template <typename T>
arma::Mat<T> KernelizedScores<T>::core_adjoint(const arma::Mat<T>& kernel, const arma::Mat<T>& gathered,
                                               const arma::Mat<T>& applied, const arma::Mat<T>& of_gathered,
                                               const arma::Mat<T>& of_applied) const {
  arma::Mat<T> core = kernel;
  core.diag() += static_cast<T>(options_.ridge);
  if (options_.inverse == SkyformerOptions::Inverse::iterative) {
    return normalised_adjoint<T>(core, iteration_of(options_), product_nt(of_applied, gathered));
  }
  // Nothing cut off: -W^-T E W^-T for E = of_applied gathered^T.
  if (diagnostics_.rank == core.n_rows) return -product_nt(of_gathered, applied);
  return pseudo_inverse_psd_adjoint(core, core_cutoff(lift_, drawn_), of_applied, gathered);
}

template <typename T>
typename KernelizedScores<T>::Adjoints KernelizedScores<T>::adjoint(const arma::Mat<T>& x,
                                                                    const arma::Mat<T>& cotangent) const {
  const SerialBlas serial;
  const CentredPoints<T> landmarks = lift_.centred(landmarks_);
  const arma::Mat<T> gathered = gather(x), applied = inverse_.apply(gathered);
  GaussianAdjoint<T> left = gaussian_adjoint(lift_.centred_queries(), landmarks, applied, cotangent);
  const arma::Mat<T> of_gathered = inverse_.apply_transposed(left.z);
  GaussianAdjoint<T> right = gaussian_adjoint(landmarks, lift_.centred_keys(), x, of_gathered);
  const arma::Mat<T> kernel = gaussian_kernel(landmarks);
  const arma::Mat<T> of_core = core_adjoint(kernel, gathered, applied, of_gathered, left.z);
  return {std::move(left.x), std::move(right.y), left.y + right.x + gaussian_kernel_adjoint(landmarks, kernel, of_core),
          std::move(right.z)};
}

template typename KernelizedScores<float>::Adjoints KernelizedScores<float>::adjoint(const arma::Mat<float>&,
                                                                                     const arma::Mat<float>&) const;
template typename KernelizedScores<double>::Adjoints KernelizedScores<double>::adjoint(const arma::Mat<double>&,
                                                                                       const arma::Mat<double>&) const;

}  // namespace croquis
