// The core of a Nystrom approximation as the iterative inverse takes it. Not installed.
#pragma once

#include <armadillo>
#include <croquis/attention/skyformer.hpp>
#include <croquis/linalg/iterative_inverse.hpp>

namespace croquis {

/// N = r C r (d x d) with r = diag(C 1)^{-1/2}, whose spectrum is in (0, 1] for the core C = W + gamma I (Skyformer
/// Lemma 3). The inverse of C is r N^-1 r.
template <typename T>
struct NormalisedCore {
  arma::Mat<T> matrix;  ///< N
  arma::Col<T> root;    ///< the diagonal of r

  explicit NormalisedCore(const arma::Mat<T>& core) : root(T(1) / arma::sqrt(arma::sum(core, 1))) {
    matrix = between(core);
  }

  /// r M r
  arma::Mat<T> between(arma::Mat<T> m) const {
    m.each_col() %= root;
    m.each_row() %= root.t();
    return m;
  }
};

inline InverseIteration iteration_of(const SkyformerOptions& options) {
  return {.start = options.start, .iterations = options.iterations, .symmetric = true};
}

}  // namespace croquis
