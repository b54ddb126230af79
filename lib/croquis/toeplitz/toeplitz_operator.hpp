// Toeplitz matrices, and block Toeplitz matrices of images, applied by fast Fourier transform or directly.
#pragma once

#include <armadillo>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/toeplitz/paired_fft.hpp>
#include <croquis/toeplitz/phase_layout.hpp>
#include <croquis/toeplitz/phase_products.hpp>
#include <croquis/toeplitz/relative_position.hpp>
#include <memory>
#include <optional>

namespace croquis {

/// How a product is computed. Automatic chooses direct for n <= kDirectToeplitz. Measured with 64 columns, the two take
/// the same time at n = 200 to 250 in double and 300 to 350 in float.
enum class ToeplitzPath { automatic, fft, direct };
inline constexpr arma::uword kDirectToeplitz = 256;

/// T_ij = c_{j-i} (n x n) with c_t = exp(b_t - max b). This is the matrix exp(b_{j-i}) without its scale, so that the
/// largest |c_t| is 1 whatever b is. c_t = 0 for b_t = -inf and for masked keys.
///
/// By fft, T is a block matrix of Toeplitz blocks (PhaseLayout). Each phase of x is transformed by itself, padded with
/// zeros to a circulant matrix (NPRF Sec. 3.2), and at each frequency a small Toeplitz matrix multiplies the phases.
/// Its spectra are computed once. Directly, blocks of T are filled from c and multiplied.
/// Guarantees: the error of an entry of T x is at most entry_error() ||x||_2 by fft, and at most n u sum_j c_{j-i}
///   |x_j| directly. The first bound is relative to a norm: entries of T x that are far below the largest lose all
///   their digits, and may be negative. With b phases and transforms of length L it is (28 log2 L + 10 + 3b) u ||c||_2:
///   a transform is off by 7 u log2 L relative to its norm, that of the kernel, that of x and, counted twice, the one
///   back; the rest is what products of spectra, and splitting and joining phases, add.
/// Cost: PhaseLayout::flops() for a column by fft, 10 n log2 L + 8 b n with b phases and transforms of length L, and
///   memory O(n) for each thread; directly 2 n^2. Threads share the columns (fft) or the rows (direct). The bits are
///   the same for any number of threads.
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

  /// Memory for products by fft. A workspace must not be shared between threads.
  struct Workspace {
    PairedSequences<T> transforms;  ///< of all phases
    PairedSequences<T> in, out;     ///< two phases; after them `in` has zeros
  };
  /// Throws std::invalid_argument if the path is direct, which has no transforms.
  Workspace workspace() const;
  /// y <- y + outer o T (inner o x), or the same with T^T, by fft. All vectors are in the order of
  /// layout().in_phases(), and o is the entrywise product. Places without a token have zero in `inner` or x, and any
  /// number in y.
  void accumulate(const T* outer, const T* inner, const T* x, T* y, bool transposed, Workspace& workspace) const;

  /// The parts of an adjoint, by fft.
  /// convolved: y = T (factor o x) or T^T (factor o x), and the spectra of factor o x; in the order of phases as well.
  /// weight_cotangent: for y = T b and the cotangent a of y, the derivative of <a, y> with respect to every bias b_t,
  /// which is c_t times the correlation sum_i a_i b_{i + t}. It is given by what add_correlations adds up of the
  /// spectra of a and b. grid().size() entries.
  void convolved(const T* factor, const T* x, T* y, bool transposed, Spectra<T>& spectra, Workspace& workspace) const;
  arma::Col<T> weight_cotangent(const Spectra<T>& correlation) const;
  Spectra<T> empty_spectra() const { return Spectra<T>(layout_.phases, layout_.length); }
  Spectra<T> empty_correlation() const { return Spectra<T>(2 * layout_.phases - 1, layout_.length); }
  const RelativeGrid& grid() const { return grid_; }
  const PhaseLayout& layout() const { return layout_; }

  /// Multiplies a block of scores by its block of T. Column a of `keys_by_queries` belongs to query queries(a), and row
  /// b to key first_key + b.
  void weigh(arma::Mat<T>& keys_by_queries, arma::uword first_key, const arma::uvec& queries) const;

 private:
  template <typename Use>
  void convolve(const T* factor, const T* x, bool transposed, Spectra<T>* kept, Workspace& workspace,
                const Use& use) const;
  arma::Mat<T> product(const arma::Mat<T>& x, bool transposed) const;

  RelativeGrid grid_;
  bool direct_;
  T log_scale_;
  arma::Col<T> weights_;  // c, by the grid
  PhaseLayout layout_;
  std::optional<PairedFft<T>> fft_;           // none for the direct path
  std::shared_ptr<const Spectra<T>> kernel_;  // of c, phase by phase, over the length of the transforms
  double entry_error_ = 0;
};

/// The operator X -> T X, for norms and tests. T is n x n.
template <typename T>
LinearOperator<T> as_operator(const ToeplitzOperator<T>& toeplitz);

}  // namespace croquis
