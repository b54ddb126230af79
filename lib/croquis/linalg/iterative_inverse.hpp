// The third-order iterative inverse of Razavi et al. that Nystromformer and Skyformer use.
#pragma once

#include <armadillo>

namespace croquis {

/// Where the iteration starts, for a square matrix N.
enum class InverseStart {
  identity,        ///< Z = I: for N with spectrum in (0, 1], as the matrix of Skyformer's Lemma 3
  transpose_both,  ///< Z = N^T / (||N||_1 ||N||_inf): Nystromformer Lemma 1; ||I - N Z|| < 1 for non-singular N
  transpose_one,   ///< Z = N^T / ||N||_1: Skyformer's code (largest column sum alone)
};

struct InverseIteration {
  InverseStart start = InverseStart::transpose_both;
  int iterations = 6;      ///< at most; the papers use 6
  double tolerance = 0.0;  ///< stop before when ||I - N Z||_F <= tolerance
  bool symmetric = false;  ///< N is symmetric: so are Z and all products, of which a half is computed
};

template <typename T>
struct IterativeInverse {
  arma::Mat<T> inverse;  ///< Z
  double residual = 0;   ///< ||I - N Z||_F of the Z that is returned
  int iterations = 0;    ///< steps taken
};

/// Z <- Z (13 I - N Z (15 I - N Z (7 I - N Z))) / 4.
/// Guarantees: with E = I - N Z, a step maps E to (3 E^3 + E^4) / 4 (Nystromformer Lemma 1). A small singular direction
///   grows by 13/4 a step: six steps are a spectral filter, not an inverse, when N is ill-conditioned; see `residual`.
/// Cost: 8 d^3 flops a step, 2 d^3 for the residual; little more than half for a symmetric N. Throws std::runtime_error
/// when Z is no longer finite.
template <typename T>
IterativeInverse<T> iterative_inverse(const arma::Mat<T>& n, const InverseIteration& options = {});

}  // namespace croquis
