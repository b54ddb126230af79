// One query and a few keys, for checks of bounds on the number of features.
#pragma once

#include <cmath>
#include <croquis/features/feature_pair.hpp>
#include <string>

namespace croquis::claims {

struct FewKeys {
  std::string name;
  arma::mat query, keys;  ///< 1 x p, n x p

  /// A query of length R, half of the keys equal to it and half opposite.
  static FewKeys poles(double radius, arma::uword n) {
    FewKeys points{"poles", arma::mat(1, 4), arma::mat(n, 4)};
    points.query.fill(radius / 2);
    for (arma::uword j = 0; j < n; ++j) points.keys.row(j) = (2 * j < n ? 1.0 : -1.0) * points.query;
    return points;
  }
  /// Two keys of length R at 45 degrees to either side of the query (T14b).
  static FewKeys two_sides(double radius) {
    const double s = radius / std::sqrt(2.0);
    return {"two keys at 45 degrees", {{radius, 0}}, {{s, s}, {s, -s}}};
  }
  /// Two keys of length R on either side of the query, whose scores are `first` and `second` below R^2 (T20).
  static FewKeys two_scores(double radius, double first, double second) {
    const auto key = [radius](double below, double side) -> arma::rowvec {
      const double x = radius - below / radius;
      return {x, side * std::sqrt(radius * radius - x * x)};
    };
    return {"two keys near q", {{radius, 0}}, arma::join_cols(key(first, 1), key(second, -1))};
  }
  /// Keys all equal to the query.
  static FewKeys equal(double radius, arma::uword n) {
    FewKeys points = poles(radius, n);
    points.name = "equal keys";
    for (arma::uword j = 0; j < n; ++j) points.keys.row(j) = points.query;
    return points;
  }

  /// One key equal to the query and n - 1 that are 0 (T19).
  static FewKeys one_among_zeros(double radius, arma::uword n) {
    FewKeys points = equal(radius, n);
    points.name = "one key q, the others 0";
    points.keys.tail_rows(n - 1).zeros();
    return points;
  }

  arma::vec exact() const {
    const arma::vec scores = keys * query.t(), a = arma::exp(scores - scores.max());
    return a / arma::accu(a);
  }
  /// ||A - 1/n||_1.
  double uniform_error() const { return arma::accu(arma::abs(exact() - 1 / static_cast<double>(keys.n_rows))); }
  /// V for two keys: as the number m of directions grows, m^{1/2} ||A - A^||_1 tends to |g|, g ~ N(0, V) (T20).
  double variance_of_many(FeatureMap map) const {
    const arma::mat z = arma::repmat(query, 2, 1) + (map == FeatureMap::trf ? -1.0 : 1.0) * keys;
    const arma::mat inner = z * z.t(),
                    moments = map == FeatureMap::trf ? arma::mat(arma::cosh(inner)) : arma::exp(inner);
    return std::pow(2 * arma::prod(exact()), 2) * (moments(0, 0) + moments(1, 1) - 2 * moments(0, 1));
  }
  /// ||A - A^||_1 of one draw with m directions of the map (prf, or trf).
  double error(arma::uword m, FeatureMap map, const Key& draw_key) const {
    const auto phi =
        FeaturePair<double>(query, keys, m * functions_of(map), {map, ProjectionDistribution::iid, 0}, draw_key)
            .matrices();
    arma::vec estimate = phi.keys * phi.queries.t();
    estimate /= arma::accu(estimate);
    return arma::accu(arma::abs(exact() - estimate));
  }
};

}  // namespace croquis::claims
