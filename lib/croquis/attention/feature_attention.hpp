// Attention by features without a position: the common part of performer and nprf.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/features/feature_adjoint.hpp>
#include <croquis/features/feature_pair.hpp>
#include <functional>
#include <string_view>

namespace croquis {

/// Throws std::invalid_argument unless a pair has as many queries and keys as the problem, of its width.
template <typename T>
void require_points_of(const Problem<T>& problem, const FeaturePair<T>& features, std::string_view where);

/// O~ = D~^-1 phi(X) (phi(Y)^T V), D~ = diag(phi(X) phi(Y)^T 1), for the points x_i, y_j of a feature pair.
/// Guarantees: rows of B~ = D~^-1 phi(X) phi(Y)^T sum to 1, and are non-negative for positive maps. If the features are
///   unbiased, so is D~ as an estimate of the row sums; the ratio is not.
/// Cost: with n = n_q + n_k, 2 n d p flops for the features (half of it if two features share a direction, and fewer
///   with sorf), 2 n d (p_v + 1) flops for the products, and n d exponentials. Memory as FeaturePair::attend, and O(n
///   d) for the scores when they are applied.
/// Throws: std::runtime_error as checked_denominators, std::invalid_argument as require_points_of.
template <typename T>
Approximation<T> feature_attention(FeaturePair<T> features, const Problem<T>& problem, Target target,
                                   std::string_view name);

/// The derivatives of <G, O~> for that output, by FeatureAdjoint. `target` says whether the points are rows of unit
/// length. With A = phi(Y)^T [V 1], [N s] = phi(X) A and M = [G / s, -(g.o) / s]: dphi(X) = M A^T, dA = phi(X)^T M,
/// dphi(Y) = [V 1] dA^T, d[V 1] = phi(Y) dA.
/// Cost: about four times the forward pass; memory of 8 d (p_v + 1) numbers and O(n (p + p_v)). Features are computed
///   in blocks of 256 tokens.
/// Throws: std::invalid_argument as require_points_of, and for a cotangent that is not n_q x p_v.
template <typename T>
Gradient<T> feature_attention_gradient(const FeaturePair<T>& features, const Problem<T>& problem, Target target,
                                       const arma::Mat<T>& cotangent);

/// The cotangent of [N s] (n x (c + 1)), [G / s, -(g_i.o_i) / s_i], from the cotangent G of the quotients o_i = N_i /
/// s_i. Throws std::invalid_argument for sizes that do not fit.
template <typename T>
arma::Mat<T> quotient_cotangent(const arma::Mat<T>& products, const arma::Mat<T>& cotangent);

/// The derivatives with respect to Q and K, from those with respect to the points of a feature pair.
template <typename T>
Gradient<T> from_points(const Problem<T>& problem, Target target, typename FeatureAdjoint<T>::Points points,
                        arma::Mat<T> of_values, arma::Col<T> of_bias = {});

/// D~, after a check that every row sum is finite and at least min / epsilon in absolute value (1e-292, float: 1e-31),
/// where min is the smallest normal number of T. A feature or product of features that underflows is off by up to min.
/// In a sum of N of them this is at most N epsilon of the smallest sum that is accepted, as much as rounding makes. A
/// smaller sum may have lost all of its digits.
/// Throws: std::runtime_error, with `name` and the token, for a row sum that fails the check.
template <typename T>
Denominators<T> checked_denominators(arma::Col<T> sums, arma::Col<T> log_scale, std::string_view name);

/// The flops of feature_attention() with n = n_q + n_k tokens: projection_flops() for d / f directions, with f features
/// for each direction, and n d + 2 n d (p_v + 1).
double feature_attention_flops(double n, double p, double p_v, double d, const FeatureOptions& options);

/// The features of Q / p^{1/4} and K / p^{1/4}.
template <typename T>
FeaturePair<T> softmax_features(const Problem<T>& problem, arma::uword d, const FeatureOptions& options,
                                const Key& draw_key);

/// Whether a map has parameters that are fitted to all queries and keys.
constexpr bool is_fitted(FeatureMap map) {
  return map == FeatureMap::oprf || map == FeatureMap::saderf;
}

/// Sets the facts that all methods with features share; `map_of(values)` is the map that the options choose.
template <typename T, typename MapOf>
void set_feature_facts(Method<T>& method, MapOf map_of) {
  method.adjoint = method.rectangular = method.rows_sum_to_one = always(true);
  method.rowwise = [map_of](const OptionValues& values) { return !is_fitted(map_of(values)); };
  // For trf too, all estimated scores are equal then, but they may be near zero.
  method.exact_on_equal_tokens = [map_of](const OptionValues& values) { return map_of(values) != FeatureMap::trf; };
}

/// Adds the options map, projection and epsilon of a FeatureOptions, which `where` finds in O.
template <typename O, typename Where>
Options<O>& add_feature_options(Options<O>& options, Where where) {
  return options
      .choice(
          "map", [=](auto& o) -> auto& { return std::invoke(where, o).map; }, in_order<FeatureMap>(feature_map_names()),
          "features (croquis list features)")
      .choice(
          "projection", [=](auto& o) -> auto& { return std::invoke(where, o).projection; },
          in_order<ProjectionDistribution>(projection_names()), "distribution of their directions")
      .number(
          "epsilon", [=](auto& o) -> auto& { return std::invoke(where, o).epsilon; }, 0, 1,
          "added to positive features: pulls towards V-mean");
}

/// The options of a FeatureOptions alone.
Options<FeatureOptions> feature_options(const FeatureOptions& defaults);

}  // namespace croquis
