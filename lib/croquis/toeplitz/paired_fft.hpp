// Fourier transforms of real sequences, two at a time as the real and the imaginary part of a complex one, by FFTW.
#pragma once

#include <algorithm>
#include <armadillo>
#include <complex>
#include <croquis/linalg/fftw_plans.hpp>
#include <memory>

namespace croquis {

/// `count` real sequences of `length` entries, as ceil(count / 2) complex ones: sequence 2i is the real part of number
/// i, and sequence 2i + 1 its imaginary part. They are aligned for FFTW's vector instructions, and each has at least
/// one entry more than it needs. Not initialised.
template <typename T>
class PairedSequences {
 public:
  PairedSequences(arma::uword count, arma::uword length)
      : pairs_((count + 1) / 2), length_(length), stride_(length + kBytesBetween / sizeof(std::complex<T>)) {
    memory_ = fftw_array<std::complex<T>>(pairs_ * stride_);
  }

  arma::uword pairs() const { return pairs_; }
  arma::uword length() const { return length_; }
  std::complex<T>* pair(arma::uword index) { return memory_.get() + index * stride_; }
  /// The numbers of a pair: entry s of its first sequence at 2s, of its second at 2s + 1.
  T* numbers(arma::uword index) { return reinterpret_cast<T*>(pair(index)); }
  T& at(arma::uword sequence, arma::uword entry) { return numbers(sequence / 2)[2 * entry + sequence % 2]; }
  /// Sets the entries from `first` on of all sequences to zero.
  void fill_zero(arma::uword first = 0) {
    for (arma::uword i = 0; i < pairs_; ++i) std::fill(pair(i) + first, pair(i) + length_, std::complex<T>(0));
  }
  const T* numbers(arma::uword index) const { return reinterpret_cast<const T*>(memory_.get() + index * stride_); }

 private:
  // Where sequences are a power of two apart, all their entries fall on one place of a cache.
  static constexpr std::size_t kBytesBetween = 128;

  arma::uword pairs_, length_, stride_;
  FftwArray<std::complex<T>> memory_;
};

/// Unnormalised complex transforms of pairs: backward(forward(x)) = length x. For real sequences x and y, the
/// transform of x + iy has those of both in it (phase_products.hpp).
///
/// Complex transforms, because FFTW does two real ones in 0.4 to 0.6 of their time in this way in float, and in 0.4 to
/// 0.8 in double (lengths 128 ... 2048, AVX-512). Plans come from the cache of fftw_plan, made with FFTW_ESTIMATE:
/// FFTW_MEASURE chooses by timing, so the same seed could give different bits on another day.
///
/// Guarantees: ||error||_2 <= about 7 u log2(length) ||result||_2 (Higham 2002, Thm. 24.2).
/// Cost: 5 L log2 L flops a pair.
/// Throws: std::invalid_argument unless 1 <= length < 2^31; std::runtime_error if FFTW makes no plan.
template <typename T>
class PairedFft {
 public:
  explicit PairedFft(arma::uword length);

  arma::uword length() const { return length_; }
  /// From pair i of the first to pair k of the second, which are different arrays. The transform's entry 0 is also its
  /// entry `length`, since it is periodic.
  void forward(PairedSequences<T>& from, arma::uword i, PairedSequences<T>& to, arma::uword k) const;
  void backward(PairedSequences<T>& from, arma::uword i, PairedSequences<T>& to, arma::uword k) const;

 private:
  arma::uword length_;
  std::shared_ptr<const FftwPlan<T>> forward_, backward_;
};

/// The smallest even 2^a 3^b 5^c 7^d >= n, and 1 for n <= 1. FFTW has fast kernels for these prime factors.
arma::uword fft_friendly_length(arma::uword n);

}  // namespace croquis
