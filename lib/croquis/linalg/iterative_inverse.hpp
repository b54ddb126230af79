// The third-order iterative inverse of Razavi et al. that Nystromformer and Skyformer use.
#pragma once

#include <armadillo>

namespace croquis {

/// Where the iteration starts, for a square matrix N.
enum class InverseStart {
  identity,        ///< Z = I, for N with spectrum in (0, 1], such as the matrix of Skyformer's Lemma 3
  transpose_both,  ///< Z = N^T / (||N||_1 ||N||_inf): Nystromformer Lemma 1; ||I - N Z|| < 1 if N is non-singular
  transpose_one,   ///< Z = N^T / ||N||_1, the largest column sum, as in Skyformer's code
};

struct InverseIteration {
  InverseStart start = InverseStart::transpose_both;
  int iterations = 6;      ///< steps; the papers use 6. None follows one that leaves ||I - N Z||_F = 0
  bool symmetric = false;  ///< N is symmetric, so iterative_solve computes only one half of W, in blocks
};

/// Z_0. Throws std::runtime_error if N is zero and Z_0 is to be a multiple of N^T.
template <typename T>
arma::Mat<T> inverse_start(const arma::Mat<T>& n, InverseStart start);

/// Throws std::runtime_error, with `name` and the step, if a step has taken ||I - N Z||_F from `before` to an `after`
/// that is not finite or, where N Z_0 is symmetric, more than 1 and more than a tenth larger. A step turns an
/// eigenvalue E of I - N Z into (3 E^3 + E^4) / 4. It becomes larger in size only if E > 1 or E < -3.35, and then in
/// all later steps. An eigenvalue 0 of N Z_0 that rounding makes negative gives such an E; the norm shows this before
/// the output does.
void require_no_growth(const char* name, int step, double before, double after, const InverseIteration& options);

template <typename T>
struct IterativeInverse {
  arma::Mat<T> inverse;  ///< Z
  double residual = 0;   ///< ||I - N Z||_F of the Z that is returned
  int iterations = 0;    ///< steps taken
};

/// Z <- Z (13 I - N Z (15 I - N Z (7 I - N Z))) / 4 for a square N (d x d).
/// Guarantees: with E = I - N Z, one step maps E to (3 E^3 + E^4) / 4 (Nystromformer Lemma 1). The part of Z along a
///   small singular direction grows by 13/4 in each step. If N is ill-conditioned, six steps are therefore a spectral
///   filter and not an inverse; see `residual`.
/// Cost: 8 d^3 flops for each step and 2 d^3 for the residual.
/// Throws: std::invalid_argument unless N is square and the options are >= 0; std::runtime_error if Z is no longer
///   finite, and as inverse_start and require_no_growth.
template <typename T>
IterativeInverse<T> iterative_inverse(const arma::Mat<T>& n, const InverseIteration& options = {});

}  // namespace croquis
