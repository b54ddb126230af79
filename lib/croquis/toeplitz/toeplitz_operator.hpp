// Toeplitz matrices, and block Toeplitz matrices of images, applied by fast Fourier transform or directly.
#pragma once

#include <armadillo>
#include <complex>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/toeplitz/real_fft.hpp>
#include <croquis/toeplitz/relative_position.hpp>
#include <memory>
#include <optional>
#include <vector>

namespace croquis {

/// How a product is computed. Automatic chooses direct for n <= kDirectToeplitz. Measured with 64 columns or more, the
/// two take the same time at n = 50 ... 150 in double and 100 ... 240 in float; the crossover is larger with fewer
/// threads. With few columns fft is faster from n = 30 on, by microseconds.
enum class ToeplitzPath { automatic, fft, direct };
inline constexpr arma::uword kDirectToeplitz = 128;

/// T_ij = c_{j-i} (n x n) with c_t = exp(b_t - max b). This is the matrix exp(b_{j-i}) without its scale, so that the
/// largest |c_t| is 1 whatever b is. c_t = 0 for b_t = -inf and for masked keys.
///
/// fft: a circulant matrix of length fft_friendly_length >= 2n - 1 with first column (c_0, c_-1, ..., c_-(n-1), 0, ...,
/// 0, c_{n-1}, ..., c_1), whose spectrum is computed once (NPRF Sec. 3.2). For an image, the same in rows and columns.
/// direct: blocks of T are filled from c and multiplied.
/// Guarantees: the error of an entry of T x is at most entry_error() ||x||_2 by fft, and at most n u sum_j c_{j-i}
///   |x_j| directly. The first bound is relative to a norm: entries of T x that are far below the largest lose all
///   their digits, and may be negative.
/// Cost: for k columns by fft 5 k L log2 L flops with L = 2n (4n for an image), and memory O(n) for each thread;
///   directly 2 n^2 k. Threads share the columns (fft) or the rows (direct). The bits are the same for any number of
///   threads.
template <typename T>
class ToeplitzOperator {
 public:
  /// Throws std::invalid_argument unless the position is valid for n tokens.
  ToeplitzOperator(const RelativePosition<T>& position, arma::uword n, ToeplitzPath path = ToeplitzPath::automatic);

  arma::uword n() const { return grid_.n(); }
  bool direct() const { return direct_; }
  T log_scale() const { return log_scale_; }           ///< max b
  double entry_error() const { return entry_error_; }  ///< 0 where the path is direct

  arma::Mat<T> apply(const arma::Mat<T>& x) const;             ///< T X, n x k
  arma::Mat<T> apply_transposed(const arma::Mat<T>& x) const;  ///< T^T X

  using Workspace = typename RealFft<T>::Workspace;
  /// Throws std::invalid_argument where the path is direct, which has no transforms; so do all that need one.
  Workspace workspace() const { return Workspace(fft()); }
  /// y <- y + outer o T (inner o x), or the same with T^T, by fft. All vectors have n entries, and o is the entrywise
  /// product.
  void accumulate(const T* outer, const T* inner, const T* x, T* y, bool transposed, Workspace& workspace) const;

  /// The parts of an adjoint, by fft.
  /// convolved: y = T (factor o x) or T^T (factor o x), and the spectrum of factor o x.
  /// add_correlation: adds the correlation sum_i a_i b_{i + t} for all t, as a spectrum, to `sum`; a and b are given by
  /// their spectra.
  /// weight_cotangent: for y = T b and the cotangent a of y, the derivative of <a, y> with respect to every bias b_t,
  /// which is c_t times the correlation. grid.size() entries.
  using Spectrum = std::vector<std::complex<T>>;
  void convolved(const T* factor, const T* x, T* y, bool transposed, Spectrum& spectrum, Workspace& workspace) const;
  void add_correlation(const Spectrum& a, const Spectrum& b, Spectrum& sum) const;
  arma::Col<T> weight_cotangent(const Spectrum& correlation) const;
  Spectrum empty_spectrum() const { return Spectrum(fft().spectrum_size()); }
  const RelativeGrid& grid() const { return grid_; }

  /// Multiplies a block of scores by its block of T. Column a of `keys_by_queries` belongs to query queries(a), and row
  /// b to key first_key + b.
  void weigh(arma::Mat<T>& keys_by_queries, arma::uword first_key, const arma::uvec& queries) const;

 private:
  const RealFft<T>& fft() const;
  void load(const T* x, const T* factor, T* real) const;
  void multiply_spectrum(bool transposed, Workspace& workspace) const;
  void convolve(bool transposed, Workspace& workspace) const;
  arma::Mat<T> product(const arma::Mat<T>& x, bool transposed) const;

  RelativeGrid grid_;
  bool direct_;
  T log_scale_;
  arma::Col<T> weights_;                                          // c, by the grid
  arma::uword rows_, cols_;                                       // of the circulant
  std::optional<RealFft<T>> fft_;                                 // none for the direct path
  std::shared_ptr<const std::vector<std::complex<T>>> spectrum_;  // of the circulant's first column, over its size
  double entry_error_ = 0;
};

/// The operator X -> T X, for norms and tests. T is n x n.
template <typename T>
LinearOperator<T> as_operator(const ToeplitzOperator<T>& toeplitz);

}  // namespace croquis
