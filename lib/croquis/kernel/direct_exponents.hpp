// Exponents of the Gaussian kernel from differences, for points where the product of norms and inner products is too
// inaccurate.
#pragma once

#include <armadillo>

namespace croquis {

/// Exponents with a larger w_ij (see DirectExponents) are computed from differences.
template <typename T>
constexpr T kProductRounding = 128;

/// Some rows of the points of a kernel. X holds the points as they are given, neither scaled nor centred. half_norms
/// holds ||x||^2 / 2 of each point after scaling and centring.
template <typename T>
struct GivenRows {
  const arma::Mat<T>& x;
  arma::uword first, count;  ///< rows first ... first + count - 1 of X
  const T* half_norms;       ///< count of them
};

/// Corrects a block of exponents s_ij = x_i.y_j - ||x_i||^2 / 2 - ||y_j||^2 / 2 of points x = scale x' - c and y =
/// scale y' - c with a common centre c.
///
/// The rounding error of the product is relative to the norms and not to the distance. It is usually about u w_ij, and
/// at most about p u w_ij, where w_ij = w(x_i) + w(y_j) and w(x) = ||x||^2 / 2 + ||c|| ||x||. The second term comes
/// from the rounding of scale x' before c is subtracted. A single token far from the others moves c away from all of
/// them, and for clusters that are far apart no centre is near to all points. Therefore, where w_ij > kProductRounding,
/// s_ij is replaced by -scale^2 ||x'_i - y'_j||^2 / 2, whose error is at most about (p + 4) u |s_ij|, or (p + 4) u / e
/// in exp(s_ij). The exception is an exp(s_ij) that is below the smallest normal number whatever the error of the
/// product is.
/// Guarantees: the decision is made for each pair separately, so exponentials do not depend on the blocks.
/// Cost: 3 p flops for each exponent of a column in which at least one is corrected; nothing for points near their
///   centre.
template <typename T>
class DirectExponents {
 public:
  /// The matrices and norms of x and y are not copied.
  DirectExponents(const GivenRows<T>& x, const GivenRows<T>& y, T scale, T centre_norm);

  /// Whether any exponent of the block has to be corrected.
  bool needed() const { return needed_; }
  /// Corrects column j of the block, which has x.count exponents.
  void correct(arma::uword j, T* exponents) const;

 private:
  T rounding(T half_norm) const;
  static arma::Mat<T>& rows_of_thread();  // those of x, while one block is corrected

  GivenRows<T> x_, y_;
  T scale_, centre_norm_, largest_of_x_;
  bool needed_;
};

}  // namespace croquis
