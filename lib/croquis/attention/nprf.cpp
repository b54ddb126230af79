#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/nprf.hpp>
#include <croquis/attention/relative_features.hpp>
#include <croquis/linalg/rows.hpp>
#include <utility>

namespace croquis {

template <typename T>
Approximation<T> nprf(const Problem<T>& problem, arma::uword d, const Key& draw_key, const FeatureOptions& options) {
  FeaturePair<T> features(unit_rows(problem.Q()), unit_rows(problem.K()), d, options, draw_key.child("features"));
  return relative_feature_attention(std::move(features), problem, Target::normalized, ToeplitzPath::automatic, "nprf");
}

template <typename T>
Method<T> nprf_method() {
  Method<T> method;
  method.name = "nprf";
  method.target = Target::normalized;
  method.summary = "positive features of queries and keys of unit length";
  method.source = "NPRF Sec. 3.3";
  method.causal = true;
  const Options<FeatureOptions> table = feature_options(kNprfFeatures);
  method.options = table.infos();
  set_feature_facts(method, [table](const OptionValues& values) { return table.read(values).map; });
  method.prepare = [table](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const FeatureOptions options = table.read(values);
    return {[=](arma::uword d, const Key& draw_key) { return nprf(problem, d, draw_key, options); },
            [=](double d) { return flops_without_bias(problem, d, options); }};
  };
  return method;
}

template Approximation<float> nprf(const Problem<float>&, arma::uword, const Key&, const FeatureOptions&);
template Approximation<double> nprf(const Problem<double>&, arma::uword, const Key&, const FeatureOptions&);
template Method<float> nprf_method();
template Method<double> nprf_method();

}  // namespace croquis
