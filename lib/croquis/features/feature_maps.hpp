// Feature maps phi with phi(x).phi(y) ~ exp(x.y): their names, their options, and the parameters that are fitted for
// some.
#pragma once

#include <armadillo>
#include <croquis/features/projections.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// phi(x) for a point x in R^p and the rows w_1, ..., w_m of a projection. d is the number of features.
enum class FeatureMap {
  trf,         ///< e^{||x||^2/2} m^{-1/2} [sin(w_r.x), cos(w_r.x)], d = 2m (Rahimi & Recht 2007; NPRF Eq. 4)
  prf,         ///< e^{-||x||^2/2} m^{-1/2} [exp(w_r.x)], d = m (Performer; NPRF Eq. 5)
  hyperbolic,  ///< e^{-||x||^2/2} (2m)^{-1/2} [exp(w_r.x), exp(-w_r.x)], d = 2m (Performer)
  sphere,      ///< prf with w_r scaled to length sqrt(p) (NPRF Sec. 4.5)
  oprf,        ///< (1-4a)^{p/4} e^{-||x||^2/2} m^{-1/2} [exp(a ||w_r||^2 + sqrt(1-4a) w_r.x)], a <= 0, d = m (FAVOR++)
  saderf,      ///< oprf of Psi x and Psi^{-1} y, Psi diagonal (FAVOR#)
};
std::string_view name_of(FeatureMap map);
/// The number of features for each direction: 2 for trf and hyperbolic, otherwise 1.
arma::uword functions_of(FeatureMap map);
std::vector<std::string> feature_map_names();
/// Throws std::invalid_argument for an unknown name; the message lists the known ones.
FeatureMap feature_map(std::string_view name);

struct FeatureOptions {
  FeatureMap map = FeatureMap::prf;
  ProjectionDistribution projection = ProjectionDistribution::iid;
  /// FAVOR+'s epsilon >= 0, for the positive maps. Features are m^{-1/2} (exp(w_r.x - ||x||^2/2 - s) + epsilon), where
  /// s is the largest w_r.x of the query or, for keys, of all keys: in causal attention of later ones too. It pulls
  /// every row towards the mean of V. The default value is 0; Performer's code uses 1e-6 to 1e-4.
  double epsilon = 0;
};

/// log(elu(x) + 1) = log1p(max(x, 0)) + min(x, 0), entry by entry. These are the features of the linear transformer
/// (Katharopoulos et al. 2020), whose kernel is not exp(x.y). Nothing is random.
template <typename T>
arma::Mat<T> log_elu_features(arma::Mat<T> x);

/// The exponent of FAVOR++, a = (1 - 1/rho) / 8 <= 0 with rho = (sqrt((2s + p)^2 + 8 p s) - 2s - p) / (4s), for s =
/// mean ||x + y||^2 >= 0. It minimises the variance that results if every ||x + y||^2 is replaced by s (Likhosherstov
/// et al. 2022, Thm. 3.3). a = 0 for s = 0. Throws std::invalid_argument unless s >= 0 is finite and p >= 1.
double optimal_exponent(double s, arma::uword p);

/// mean x_l^2 for every coordinate l of points x (n x p), each raised by 2u times their mean over l, so that a
/// coordinate that is zero has a square too, unless x is zero.
template <typename T>
arma::rowvec raised_squares(const arma::Mat<T>& x);

/// psi_l = (mean y_l^2 / mean x_l^2)^{1/4} for x (n_q x p) and y (n_k x p): the diagonal matrix Psi that minimises mean
/// ||Psi x + Psi^{-1} y||^2 (Likhosherstov et al. 2023). The mean squares are raised_squares(), so that psi_l is finite
/// where a coordinate is zero. If x or y is zero, Psi is the identity. Throws std::invalid_argument unless there are
/// points of both and they have one width.
template <typename T>
arma::Row<T> balancing_scale(const arma::Mat<T>& x, const arma::Mat<T>& y);

}  // namespace croquis
