// Error and variance of random features against norm and d: what `croquis variance` measures.
#pragma once

#include <armadillo>
#include <croquis/features/feature_pair.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace croquis {

/// One draw of a feature map at one d. variance_columns() documents the members. NaN marks a number that does not
/// apply.
struct VarianceRow {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input, map, projection;
  double norm = kUndefined;
  std::uint64_t p = 0, queries = 0, keys = 0, features = 0, trial = 0, seed = 0;
  double l1_error = kUndefined, squared_error = kUndefined, lemma_2 = kUndefined;
  std::string status = "ok";
  std::optional<std::uint64_t> sequence, layer, head;
};

const Columns<VarianceRow>& variance_columns();

/// The points whose inner products are estimated: rows of x (queries x p) against rows of y (keys x p).
struct FeaturePoints {
  arma::mat x, y;
  arma::uvec seen = {};  ///< query i attends to the first seen(i) >= 1 keys; empty: to all
};

/// Points uniform on spheres of radius `norm`: queries from key.child("query"), keys from key.child("key").
FeaturePoints sphere_points(arma::uword queries, arma::uword keys, arma::uword p, double norm, const Key& key);

/// The errors of d features, drawn from the random key, against exp(x.y). A failure becomes the row's status. Sets p,
/// queries, keys, features and the measured members; the caller sets map, projection and the rest.
/// Cost: that of the features, and 2 queries keys (p + d) flops.
VarianceRow feature_variance(const FeaturePoints& points, arma::uword d, const FeatureOptions& features,
                             const Key& key);

}  // namespace croquis
