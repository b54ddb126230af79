#include <algorithm>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/attention/streaming.hpp>
#include <croquis/core/require.hpp>

namespace croquis {
namespace {

template <typename T>
Pattern streaming_pattern(const Problem<T>& problem, arma::uword d, arma::uword sinks) {
  Pattern pattern(problem);
  const arma::uword window = d - sinks, before = problem.is_causal() ? window - 1 : window / 2;
  std::vector<std::uint32_t> keys;
  for (arma::uword i = 0; i < problem.n_q(); ++i) {
    keys.clear();
    for (arma::uword j = 0; j < sinks; ++j) keys.push_back(static_cast<std::uint32_t>(j));
    // The window has its places before the first key and after the last one too: nothing is moved in for them.
    const arma::uword own = pattern.own(i), end = std::min(problem.n_k(), own + window - before);
    for (arma::uword j = own - std::min(own, before); j < end; ++j) keys.push_back(static_cast<std::uint32_t>(j));
    pattern.add(keys);
  }
  return pattern;
}

Options<StreamingOptions> options_of_streaming() {
  return Options<StreamingOptions>().count("sinks", &StreamingOptions::sinks, 0, 1000000,
                                           "keys, the first ones, that all queries attend to");
}

}  // namespace

template <typename T>
Approximation<T> streaming(const Problem<T>& problem, arma::uword d, const StreamingOptions& options) {
  const arma::uword n_k = problem.n_k();
  require(d >= 1 && d <= n_k, "streaming", "1 <= d <= n_k", {{"d", d}, {"n_k", n_k}});
  require(d == n_k || d > options.sinks, "streaming", "d > sinks, so that a query attends to its own key",
          {{"d", d}, {"sinks", options.sinks}});
  if (d == n_k) return softmax_over_all_keys(problem);
  return sparse_softmax(problem.Q(), problem.K(), problem, streaming_pattern(problem, d, options.sinks));
}

template <typename T>
Method<T> streaming_method() {
  Method<T> method;
  method.name = "streaming";
  method.summary = "softmax over the first keys, attention sinks, and a sliding window; d keys a query";
  method.source = "Xiao et al. 2023, StreamingLLM";
  method.causal = true;
  method.random = always(false);
  method.options = options_of_streaming().infos();
  method.rectangular = method.rows_sum_to_one = always(true);
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const StreamingOptions options = options_of_streaming().read(values);
    const auto p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key&) { return streaming(problem, d, options); },
            [=](double d) { return most_visits(problem, d) * pair_flops(p, p_v); }};
  };
  return method;
}

template Approximation<float> streaming(const Problem<float>&, arma::uword, const StreamingOptions&);
template Approximation<double> streaming(const Problem<double>&, arma::uword, const StreamingOptions&);
template Method<float> streaming_method();
template Method<double> streaming_method();

}  // namespace croquis
