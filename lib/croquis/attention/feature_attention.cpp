#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/feature_attention.hpp>
#include <croquis/core/require.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <memory>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

// D~^-1 phi(X) phi(Y)^T with the features in memory.
template <typename T>
LinearOperator<T> scores_of(const FeaturePair<T>& features) {
  typename FeaturePair<T>::Matrices phi = features.matrices();
  arma::Col<T> sums = product<T>(phi.queries, column_sums(phi.keys).t());
  return divided_rows(as_operator(std::move(phi.queries), std::move(phi.keys)), std::move(sums));
}

}  // namespace

template <typename T>
void require_points_of(const Problem<T>& problem, const FeaturePair<T>& features, std::string_view where) {
  require(features.n_q() == problem.n_q() && features.n_k() == problem.n_k() && features.p() == problem.p(), where,
          "features of the problem's queries and keys",
          {{"queries", features.n_q()},
           {"keys", features.n_k()},
           {"width", features.p()},
           {"n_q", problem.n_q()},
           {"n_k", problem.n_k()},
           {"p", problem.p()}});
}

template <typename T>
Denominators<T> checked_denominators(arma::Col<T> sums, arma::Col<T> log_scale, std::string_view name) {
  for (arma::uword i = 0; i < sums.n_elem; ++i) {
    if (std::isfinite(sums(i)) && std::abs(sums(i)) >= kLeastSum<T>) continue;
    throw std::runtime_error(fmt::format("{}: the estimated row sum of token {} is {}", name, i, sums(i)));
  }
  return {std::move(sums), std::move(log_scale)};
}

template <typename T>
Approximation<T> feature_attention(FeaturePair<T> features, const Problem<T>& problem, Target target,
                                   std::string_view name) {
  require_points_of(problem, features, "feature_attention");
  const auto shared = std::make_shared<const FeaturePair<T>>(std::move(features));
  typename FeaturePair<T>::Attended attended = shared->attend(problem.V());
  Approximation<T> approximation;
  approximation.output = std::move(attended.output);
  approximation.denominators = checked_denominators<T>(std::move(attended.sums), std::move(attended.log_scale), name);
  approximation.scores = deferred<T>(problem.n_q(), problem.n_k(), [shared] { return scores_of(*shared); });
  approximation.adjoint = adjoint_of<T>(problem, [=](const arma::Mat<T>& cotangent) {
    return feature_attention_gradient(*shared, problem, target, cotangent);
  });
  return approximation;
}

double feature_attention_flops(double n, double p, double p_v, double d, const FeatureOptions& options) {
  const double directions = d / static_cast<double>(functions_of(options.map));
  return projection_flops(options.projection, n, directions, p) + n * d + 2 * n * d * (p_v + 1);
}

template <typename T>
FeaturePair<T> softmax_features(const Problem<T>& problem, arma::uword d, const FeatureOptions& options,
                                const Key& draw_key) {
  const T scale = std::pow(static_cast<T>(problem.p()), T(-0.25));
  return {problem.shared_Q(), problem.shared_K(), scale, d, options, draw_key};
}

Options<FeatureOptions> feature_options(const FeatureOptions& defaults) {
  Options<FeatureOptions> options(defaults);
  return add_feature_options(
      options, [](auto& o) -> auto& { return o; });
}

template void require_points_of(const Problem<float>&, const FeaturePair<float>&, std::string_view);
template void require_points_of(const Problem<double>&, const FeaturePair<double>&, std::string_view);
template Denominators<float> checked_denominators(arma::Col<float>, arma::Col<float>, std::string_view);
template Denominators<double> checked_denominators(arma::Col<double>, arma::Col<double>, std::string_view);
template Approximation<float> feature_attention(FeaturePair<float>, const Problem<float>&, Target, std::string_view);
template Approximation<double> feature_attention(FeaturePair<double>, const Problem<double>&, Target, std::string_view);
template FeaturePair<float> softmax_features(const Problem<float>&, arma::uword, const FeatureOptions&, const Key&);
template FeaturePair<double> softmax_features(const Problem<double>&, arma::uword, const FeatureOptions&, const Key&);

}  // namespace croquis
