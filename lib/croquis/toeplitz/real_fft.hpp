// Real Fourier transforms in one and two dimensions, by FFTW.
#pragma once

#include <armadillo>
#include <complex>
#include <croquis/linalg/fftw_plans.hpp>
#include <memory>

namespace croquis {

/// The smallest even 2^a 3^b 5^c 7^d >= n, and 1 for n <= 1. FFTW has fast kernels for these prime factors.
arma::uword fft_friendly_length(arma::uword n);

/// Unnormalised transforms of real rows x cols arrays that are stored row by row: backward(forward(x)) = rows cols x.
///
/// Plans come from the cache of fftw_plan, made with FFTW_ESTIMATE. FFTW_MEASURE chooses by timing, so the same seed
/// could give different bits on another day. Planning with it took 2 s for length 2048 and 17 s for 131072 on a busy
/// machine, and the transforms were 1.1 to 1.7 times as fast. Transforms with one plan may run at the same time, each
/// in a workspace of its own.
/// Guarantees: ||error||_2 <= about 7 u log2(rows cols) ||result||_2 (Higham 2002, Thm. 24.2).
/// Cost: O(N log N) for N = rows cols.
/// Throws: std::invalid_argument unless 1 <= rows, cols < 2^31; std::runtime_error if FFTW makes no plan.
template <typename T>
class RealFft {
 public:
  RealFft(arma::uword rows, arma::uword cols);

  arma::uword size() const { return rows_ * cols_; }
  arma::uword spectrum_size() const { return rows_ * (cols_ / 2 + 1); }

  /// Arrays that are aligned for FFTW's vector instructions. A workspace must not be shared between threads.
  class Workspace {
   public:
    explicit Workspace(const RealFft& fft);
    T* real() { return real_.get(); }
    std::complex<T>* spectrum() { return spectrum_.get(); }

   private:
    FftwArray<T> real_;
    FftwArray<std::complex<T>> spectrum_;
  };

  void forward(Workspace& workspace) const;   ///< real() -> spectrum()
  void backward(Workspace& workspace) const;  ///< spectrum(), which is destroyed, -> real()

 private:
  arma::uword rows_, cols_;
  std::shared_ptr<const FftwPlan<T>> forward_, backward_;
};

}  // namespace croquis
