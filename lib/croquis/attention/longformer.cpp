#include <algorithm>
#include <croquis/attention/longformer.hpp>
#include <croquis/attention/sparse_softmax.hpp>
#include <croquis/core/require.hpp>

namespace croquis {
namespace {

template <typename T>
Pattern longformer_pattern(const Problem<T>& problem, arma::uword d, arma::uword global) {
  Pattern pattern(problem);
  const arma::uword n = problem.n();
  // Under a causal mask the band lies before its query, and a global query meets no more keys than another, so that
  // nothing is counted twice.
  const arma::uword width = problem.is_causal() ? d - 1 - global : (d - 1 - 2 * global) / 2;
  std::vector<std::uint32_t> keys;
  for (arma::uword i = 0; i < n; ++i) {
    if (i < global) {
      pattern.add_all();
      continue;
    }
    keys.clear();
    for (arma::uword j = 0; j < global; ++j) keys.push_back(static_cast<std::uint32_t>(j));
    for (arma::uword j = i - std::min(i, width); j <= std::min(n - 1, i + width); ++j) {
      keys.push_back(static_cast<std::uint32_t>(j));
    }
    pattern.add(keys);
  }
  return pattern;
}

Options<LongformerOptions> options_of_longformer() {
  return Options<LongformerOptions>().count("global", &LongformerOptions::global, 0, 1000000,
                                            "tokens, the first ones, that attend to all and that all attend to");
}

}  // namespace

template <typename T>
Approximation<T> longformer(const Problem<T>& problem, arma::uword d, const LongformerOptions& options) {
  require_square(problem, "longformer");
  const arma::uword n = problem.n();
  require(d >= 1 && d <= n, "longformer", "1 <= d <= n", {{"d", d}, {"n", n}});
  if (problem.is_causal()) {
    require(d == n || d >= 1 + options.global, "longformer", "d >= 1 + global in causal attention",
            {{"d", d}, {"global", options.global}});
  } else {
    require(d == n || d >= 1 + 2 * options.global, "longformer", "d >= 1 + 2 global, a token and the global ones",
            {{"d", d}, {"global", options.global}});
  }
  if (d == n) return softmax_over_all_keys(problem);
  return sparse_softmax(problem.Q(), problem.K(), problem, longformer_pattern(problem, d, options.global));
}

template <typename T>
Method<T> longformer_method() {
  Method<T> method;
  method.name = "longformer";
  method.summary = "softmax over a band and a few global tokens; d keys a query";
  method.source = "Nystromformer Table 1";
  method.random = always(false);
  method.causal = true;
  method.options = options_of_longformer().infos();
  method.rows_sum_to_one = always(true);
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n(); };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const LongformerOptions options = options_of_longformer().read(values);
    const auto p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key&) { return longformer(problem, d, options); },
            [=](double d) { return most_visits(problem, d) * pair_flops(p, p_v); }};
  };
  return method;
}

template Approximation<float> longformer(const Problem<float>&, arma::uword, const LongformerOptions&);
template Approximation<double> longformer(const Problem<double>&, arma::uword, const LongformerOptions&);
template Method<float> longformer_method();
template Method<double> longformer_method();

}  // namespace croquis
