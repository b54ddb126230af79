#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/performer.hpp>
#include <croquis/attention/relative_features.hpp>

namespace croquis {
namespace {

const Options<FeatureOptions>& options_of_performer() {
  constexpr double epsilon_of_code = 1e-4;
  static const Options<FeatureOptions> options = [] {
    FeatureOptions code = kPerformerFeatures;
    code.epsilon = epsilon_of_code;
    Options<FeatureOptions> table(kPerformerFeatures);
    table.preset("code: epsilon = 1e-4", {{"paper", kPerformerFeatures}, {"code", code}});
    return add_feature_options(
        table, [](auto& o) -> auto& { return o; });
  }();
  return options;
}

}  // namespace

template <typename T>
Approximation<T> performer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const FeatureOptions& options) {
  return relative_feature_attention(softmax_features(problem, d, options, draw_key.child("features")), problem,
                                    Target::softmax, ToeplitzPath::automatic, "performer");
}

template <typename T>
Method<T> performer_method() {
  Method<T> method;
  method.name = "performer";
  method.summary = "random features of the softmax kernel, FAVOR+";
  method.source = "Performer; NPRF Eq. 3";
  method.causal = true;
  method.options = options_of_performer().infos();
  set_feature_facts(method, [](const OptionValues& values) { return options_of_performer().read(values).map; });
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const FeatureOptions options = options_of_performer().read(values);
    return {[=](arma::uword d, const Key& draw_key) { return performer(problem, d, draw_key, options); },
            [=](double d) { return flops_without_bias(problem, d, options); }};
  };
  return method;
}

template Approximation<float> performer(const Problem<float>&, arma::uword, const Key&, const FeatureOptions&);
template Approximation<double> performer(const Problem<double>&, arma::uword, const Key&, const FeatureOptions&);
template Method<float> performer_method();
template Method<double> performer_method();

}  // namespace croquis
