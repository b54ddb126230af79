// Attention by features, without a position: what performer and nprf share.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/features/feature_adjoint.hpp>
#include <croquis/features/feature_pair.hpp>
#include <functional>
#include <string_view>

namespace croquis {

/// O~ = D~^-1 phi(X) (phi(Y)^T V), D~ = diag(phi(X) phi(Y)^T 1) for the points x_i, y_j of a feature pair.
/// Guarantees: rows of B~ = D~^-1 phi(X) phi(Y)^T sum to 1; they are non-negative for positive maps. D~ is an
///   unbiased estimate of the row sums where the features are unbiased; the ratio
///   is not.
/// Cost, with n = n_q + n_k: 2 n d p for the features (half of it where two share a direction), 2 n d (p_v + 1) flops,
/// n d exponentials; memory as FeaturePair::attend, and O(n d) for the scores when they are applied. Throws
/// std::runtime_error, with `name` and the token, when an estimated row sum is zero.
template <typename T>
Approximation<T> feature_attention(FeaturePair<T> features, const Problem<T>& problem, Target target,
                                   std::string_view name);

/// The derivatives of <G, O~> for that output, FeatureAdjoint of D~^-1 phi(X) (phi(Y)^T V); `target` says whether the
/// points are rows of unit length. With A = phi(Y)^T [V 1], [N s] = phi(X) A and M = [G / s, -(g.o) / s]: dphi(X) = M
/// A^T, dA = phi(X)^T M, dphi(Y) = [V 1] dA^T, d[V 1] = phi(Y) dA.
/// Cost: about four times the forward pass; memory of 8 d (p_v + 1) numbers and O(n (p + p_v)): features are computed
/// in blocks of 256 tokens.
template <typename T>
Gradient<T> feature_attention_gradient(const FeaturePair<T>& features, const Problem<T>& problem, Target target,
                                       const arma::Mat<T>& cotangent);

/// Rows N_i / s_i of [N s] (n x (c + 1)) with the cotangent G: that of [N s], [G / s, -(g_i.o_i) / s_i].
template <typename T>
arma::Mat<T> quotient_cotangent(const arma::Mat<T>& products, const arma::Mat<T>& cotangent);

/// Derivatives by the points of a feature pair to derivatives by Q and K.
template <typename T>
Gradient<T> from_points(const Problem<T>& problem, Target target, typename FeatureAdjoint<T>::Points points,
                        arma::Mat<T> of_values, arma::Col<T> of_bias = {});

/// D~ and its check, for the methods that divide by sums of features.
template <typename T>
Denominators<T> checked_denominators(arma::Col<T> sums, arma::Col<T> log_scale, std::string_view name);

/// 2 n (d / f) p + n d + 2 n d (p_v + 1) for n = n_q + n_k, f features a direction.
double feature_attention_flops(double n, double p, double p_v, double d, FeatureMap map);

/// The features of Q / p^{1/4} and K / p^{1/4}.
template <typename T>
FeaturePair<T> softmax_features(const Problem<T>& problem, arma::uword d, const FeatureOptions& options,
                                const Key& draw_key);

/// Whether a map is fitted to all queries and keys, as oprf and saderf are.
constexpr bool is_fitted(FeatureMap map) {
  return map == FeatureMap::oprf || map == FeatureMap::saderf;
}

/// What holds for every method of this kind; `map_of(values)` is the map that the options choose.
template <typename T, typename MapOf>
void set_feature_facts(Method<T>& method, MapOf map_of) {
  method.adjoint = method.rectangular = method.rows_sum_to_one = always(true);
  method.rowwise = [map_of](const OptionValues& values) { return !is_fitted(map_of(values)); };
  // The estimated scores of trf are all alike too, but may be near zero.
  method.exact_on_equal_tokens = [map_of](const OptionValues& values) { return map_of(values) != FeatureMap::trf; };
}

/// Adds the options map, projection and epsilon of the feature options `where` in O.
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

/// Those alone.
Options<FeatureOptions> feature_options(const FeatureOptions& defaults);

}  // namespace croquis
