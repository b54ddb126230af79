// Exponents of the Gaussian kernel from differences, where a product of norms and inner products loses them.
#pragma once

#include <armadillo>

namespace croquis {

/// Exponents whose rounding in the product may be above this many u are computed from differences.
template <typename T>
constexpr T kProductRounding = 128;

/// Some rows of the points of a kernel: as they are given, neither scaled nor centred, and ||.||^2 / 2 of each once it
/// is scaled and centred.
template <typename T>
struct GivenRows {
  const arma::Mat<T>& x;
  arma::uword first, count;  ///< rows first ... first + count - 1 of X
  const T* half_norms;       ///< count of them
};

/// Corrects a block of exponents s_ij = x_i.y_j - ||x_i||^2 / 2 - ||y_j||^2 / 2 of points x = scale x' - c, y = scale
/// y'
/// - c about a common centre c.
///
/// The product rounds relative to the norms, not to the distance: by about u w_ij, w_ij = w(x_i) + w(y_j) with
/// w(x) = ||x||^2 / 2 + ||c|| ||x||, the second term from the rounding of scale x' before c is subtracted. One token
/// far from the others moves c away from all of them, and clusters far apart have no centre that is near to all. So
/// where w_ij > kProductRounding, s_ij <- -scale^2 ||x'_i - y'_j||^2 / 2, which rounds by (p + 4) u |s_ij|, unless
/// exp(s_ij) is below the smallest normal number whatever the rounding of the product.
/// Law: what is corrected is decided for each pair by itself, so that exponentials do not depend on the blocks.
/// Cost: 3 p flops for an exponent of a column in which one is corrected, nothing for points near their centre.
template <typename T>
class DirectExponents {
 public:
  /// The matrices and norms of x and y are not copied.
  DirectExponents(const GivenRows<T>& x, const GivenRows<T>& y, T scale, T centre_norm);

  /// Whether any exponent of the block is to be corrected.
  bool needed() const { return needed_; }
  /// Column j of the block, x.count exponents.
  void correct(arma::uword j, T* exponents) const;

 private:
  T rounding(T half_norm) const;
  static arma::Mat<T>& rows_of_thread();  // those of x, while one block is corrected

  GivenRows<T> x_, y_;
  T scale_, centre_norm_, largest_of_x_;
  bool needed_;
};

}  // namespace croquis
