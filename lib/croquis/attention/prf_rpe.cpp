#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/prf_rpe.hpp>
#include <croquis/attention/relative_features.hpp>
#include <croquis/linalg/rows.hpp>
#include <utility>

namespace croquis {
namespace {

template <typename T>
Approximation<T> approximate(const Problem<T>& problem, Target target, arma::uword d, const Key& draw_key,
                             const RelativeFeatureOptions& options) {
  const bool unit = has_unit_rows(target);
  const Key draw = draw_key.child("features");
  FeaturePair<T> features =
      unit ? FeaturePair<T>(unit_rows(problem.Q()), unit_rows(problem.K()), d, options.features, draw)
           : softmax_features(problem, d, options.features, draw);
  return relative_feature_attention(std::move(features), problem, target, options.product,
                                    unit ? "nprf-rpe" : "prf-rpe");
}

const Options<RelativeFeatureOptions>& options_of_relative_features() {
  using O = RelativeFeatureOptions;
  static const Options<O> options = [] {
    Options<O> table;
    return add_feature_options(table, &O::features)
        .choice("product", &O::product,
                Choices<ToeplitzPath>{
                    {"auto", ToeplitzPath::automatic}, {"fft", ToeplitzPath::fft}, {"direct", ToeplitzPath::direct}},
                "how the bias is applied; auto: what is faster");
  }();
  return options;
}

template <typename T>
Method<T> method_for(Target target) {
  Method<T> method;
  method.target = target;
  method.causal = true;
  set_feature_facts(
      method, [](const OptionValues& values) { return options_of_relative_features().read(values).features.map; });
  method.options = options_of_relative_features().infos();
  method.prepare = [target](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const RelativeFeatureOptions options = options_of_relative_features().read(values);
    return {[=](arma::uword d, const Key& draw_key) { return approximate(problem, target, d, draw_key, options); },
            [=](double d) {
              const RelativePath path = relative_path(problem.position(), problem.tokens(), static_cast<arma::uword>(d),
                                                      problem.p_v(), options.product);
              return relative_flops(path, problem.tokens(), static_cast<double>(problem.p()),
                                    static_cast<double>(problem.p_v()), d, options.features, problem.position().height,
                                    problem.is_causal());
            }};
  };
  return method;
}

}  // namespace

template <typename T>
Approximation<T> prf_rpe(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                         const RelativeFeatureOptions& options) {
  return approximate(problem, Target::softmax_rpe, d, draw_key, options);
}

template <typename T>
Approximation<T> nprf_rpe(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                          const RelativeFeatureOptions& options) {
  return approximate(problem, Target::normalized_rpe, d, draw_key, options);
}

template <typename T>
Method<T> prf_rpe_method() {
  Method<T> method = method_for<T>(Target::softmax_rpe);
  method.name = "prf-rpe";
  method.summary = "positive features with a relative position bias, by FFT";
  method.source = "NPRF Eq. 10";
  return method;
}

template <typename T>
Method<T> nprf_rpe_method() {
  Method<T> method = method_for<T>(Target::normalized_rpe);
  method.name = "nprf-rpe";
  method.summary = "the same with queries and keys of unit length";
  method.source = "NPRF Alg. 1";
  return method;
}

template Approximation<float> prf_rpe(const Problem<float>&, arma::uword, const Key&, const RelativeFeatureOptions&);
template Approximation<double> prf_rpe(const Problem<double>&, arma::uword, const Key&, const RelativeFeatureOptions&);
template Approximation<float> nprf_rpe(const Problem<float>&, arma::uword, const Key&, const RelativeFeatureOptions&);
template Approximation<double> nprf_rpe(const Problem<double>&, arma::uword, const Key&, const RelativeFeatureOptions&);
template Method<float> prf_rpe_method();
template Method<double> prf_rpe_method();
template Method<float> nprf_rpe_method();
template Method<double> nprf_rpe_method();

}  // namespace croquis
