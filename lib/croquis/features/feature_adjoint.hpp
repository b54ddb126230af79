// The adjoint of random features: from the cotangent of the features to that of the points.
#pragma once

#include <armadillo>
#include <croquis/features/feature_pair.hpp>

namespace croquis {

/// Accumulates, block by block, the derivatives of a function of the features with respect to the points x_i and y_j,
/// as they are given (before their scale). The features are those that FeaturePair::queries and keys return for the
/// pair's own shifts.
///
/// With epsilon = 0 the function must not depend on the shifts: they are held constant, as in attention, where they
/// cancel when rows are divided by their sums. With epsilon > 0 they do not cancel, and their derivatives, those of the
/// largest exponents, are included. The derivatives of the a of oprf and saderf and of Psi, which are computed from the
/// points, are included too. Directions are held constant.
/// With the features phi of the exponents e: de = dphi o phi (less epsilon) and dx = sum_r de_r slope_r w_r - (sum_r
/// de_r) x; for trf de = dphi_sin o phi_cos - dphi_cos o phi_sin.
/// Cost: 2 t c p flops for a block of t tokens and c directions. Memory: two matrices of the sizes of Q and K, and W.
template <typename T>
class FeatureAdjoint {
 public:
  /// The pair must outlive this object.
  explicit FeatureAdjoint(const FeaturePair<T>& pair);
  explicit FeatureAdjoint(FeaturePair<T>&& pair) = delete;

  /// Adds a block: different tokens and some directions, with their features (t x functions() c), as queries() and
  /// keys() return them, and the derivatives with respect to these features. Blocks of different tokens may be added at
  /// the same time.
  void add_queries(const arma::uvec& tokens, arma::span directions, const arma::Mat<T>& features,
                   const arma::Mat<T>& cotangent);
  void add_keys(const arma::uvec& tokens, arma::span directions, const arma::Mat<T>& features,
                const arma::Mat<T>& cotangent);

  /// The derivatives with respect to all points. To be called once, after all blocks have been added.
  struct Points {
    arma::Mat<T> x, y;
  };
  Points finish();

 private:
  // What is added up of one set of points.
  struct Side {
    arma::Mat<T> points;     // sum_r de_r sign_r slope_r w_r
    arma::Col<T> sums;       // sum_r de_r
    arma::Col<T> norm_sums;  // sum_r de_r ||w_r||^2, for oprf and saderf
    arma::uvec largest;      // with epsilon > 0: the feature with the largest exponent
  };
  void add(Side& side, const arma::uvec& tokens, arma::span directions, const arma::Mat<T>& features,
           const arma::Mat<T>& cotangent) const;
  Side empty_side(arma::uword tokens) const;
  void add_shifts(double& of_exponent);
  void add_exponent(double of_exponent);
  void undo_balance();
  // sign slope w of a feature, and ||w||^2 - 2 w.x / slope: the derivatives of its exponent by a point x and by a.
  arma::Row<T> slope_of(arma::uword feature) const;
  double by_exponent(arma::uword feature, const arma::Row<T>& point) const;

  const FeaturePair<T>& pair_;
  arma::Mat<T> directions_;  // W, m x p, with the scale
  arma::Col<T> norms_;       // ||w_r||^2, without it
  Side queries_, keys_;
  arma::uword largest_key_ = 0;
};

}  // namespace croquis
