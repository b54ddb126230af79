// Products of spectra: what a block Toeplitz matrix does at each frequency, and its derivative.
#pragma once

#include <armadillo>
#include <croquis/toeplitz/paired_fft.hpp>
#include <vector>

namespace croquis {

/// The spectra of real sequences of length L at the frequencies 0 ... L / 2, in tiles of kTile frequencies: for each
/// tile and each sequence kTile real parts and then kTile imaginary ones, so that the products of a tile stay in the
/// first-level cache. The last tile goes on with the frequencies after L / 2. An odd number of sequences is rounded up.
template <typename T>
struct Spectra {
  static constexpr arma::uword kTile = 128 / sizeof(T);

  /// All zero. Requires length >= 2 kTile.
  Spectra(arma::uword count, arma::uword length)
      : count_(count + count % 2), tiles_((length / 2 + kTile) / kTile), values_(tiles_ * count_ * 2 * kTile) {}

  arma::uword count() const { return count_; }
  arma::uword tiles() const { return tiles_; }
  T* tile(arma::uword t) { return values_.data() + t * count_ * 2 * kTile; }
  const T* tile(arma::uword t) const { return values_.data() + t * count_ * 2 * kTile; }

 private:
  arma::uword count_, tiles_;
  std::vector<T> values_;
};

/// split() computes the spectra of the sequences from the transforms that PairedFft has made of pairs, and join() does
/// the reverse. For a pair of sequences x and y, z = x + iy has been transformed, so x_f = (z_f + conj z_{L-f}) / 2 and
/// y_f = (z_f - conj z_{L-f}) / 2i.
template <typename T>
void split(const PairedSequences<T>& transforms, Spectra<T>& spectra);
template <typename T>
void join(const Spectra<T>& spectra, PairedSequences<T>& transforms);

/// For b phases and the kernel's spectra c_{-(b-1)}, ..., c_{b-1}: y_r = sum_s c_{s-r} x_s at every frequency, or, for
/// the transpose, y_s = sum_r conj(c_{s-r}) x_r. x and y are paired transforms, and y overwrites x. `kept` receives the
/// spectra of x, unless it is nullptr.
/// Guarantees: |error of y_r| <= (3 b + 4) u sum_s |c_{s-r}| |x_s|.
/// Cost: 4 b^2 L flops.
template <typename T>
void multiply_phases(arma::uword phases, const Spectra<T>& kernel, bool transposed, PairedSequences<T>& x_then_y,
                     Spectra<T>* kept = nullptr);

/// sum_t <- sum_t + sum_r conj(x_r) y_{r+t} for t from -(b-1) to b-1.
template <typename T>
void add_correlations(arma::uword phases, const Spectra<T>& x, const Spectra<T>& y, Spectra<T>& sum);

}  // namespace croquis
