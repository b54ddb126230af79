// The orthonormal discrete cosine transform.
#pragma once

#include <armadillo>
#include <croquis/linalg/fftw_plans.hpp>
#include <memory>

namespace croquis {

/// The orthonormal DCT-II of any length n: C_ki = sqrt((2 - [k = 0]) / n) cos(pi (2i + 1) k / (2n)), with C C^T = I.
/// Guarantees: ||error|| <= c u log2 n ||x|| with c about 10 (FFTW's REDFT10 and REDFT01).
/// Cost: O(n log n) for each transform and every n, primes included. Plans come from the cache of fftw_plan, made with
///   FFTW_ESTIMATE. Transforms with one plan may run at the same time.
/// Throws: std::invalid_argument unless 1 <= n < 2^31; std::runtime_error if FFTW makes no plan.
template <typename T>
class CosineTransform {
 public:
  explicit CosineTransform(arma::uword n);

  arma::uword length() const { return n_; }
  /// x <- C x, in place, for n entries.
  void apply(T* x) const;
  /// x <- C^T x, in place.
  void apply_transposed(T* x) const;
  /// C_ki by its formula: the angle is reduced exactly, and one cosine is computed in double and rounded to T.
  T entry(arma::uword k, arma::uword i) const;

 private:
  arma::uword n_;
  std::shared_ptr<const FftwPlan<T>> forward_, back_;
};

}  // namespace croquis
