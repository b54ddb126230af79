#include <algorithm>
#include <cmath>
#include <croquis/attention/balancekv.hpp>
#include <croquis/attention/coreset_softmax.hpp>
#include <croquis/core/require.hpp>
#include <croquis/sampling/balancing_walk.hpp>
#include <numeric>

namespace croquis {
namespace {

// Keys first ... first + count - 1 are halved until `left` are; the others are kept.
struct HalvedKeys {
  arma::uword first, count, left;

  HalvedKeys(arma::uword n_k, arma::uword d, const BalancekvOptions& options) {
    const arma::uword window = std::min(options.window, d / 4);
    first = std::min(options.sinks, d / 4);
    count = n_k - first - window;
    left = d - first - window;
  }
};

void check_balancekv(const BalancekvOptions& options) {
  require(options.gamma >= 0, "balancekv", "gamma >= 0", {{"gamma", options.gamma}});
  require(options.constant >= 0, "balancekv", "constant >= 0", {{"constant", options.constant}});
  require(options.block >= 2 && options.block % 2 == 0, "balancekv", "an even number of keys in a block",
          {{"block", options.block}});
}

const Options<BalancekvOptions>& options_of_balancekv() {
  using O = BalancekvOptions;
  static const Options<O> options =
      Options<O>()
          .number("gamma", &O::gamma, 0, 1e6, "how strongly signs turn against the sum so far; 0: fair signs")
          .count("block", &O::block, 2, 1000000, "keys of a walk, an even number")
          .number("constant", &O::constant, 0, 1e6, "weight of the row sums beside the values; 0: values alone")
          .count("sinks", &O::sinks, 0, 1000000, "first keys that are kept, at most a quarter of d")
          .count("window", &O::window, 0, 1000000, "last keys that are kept, at most a quarter of d");
  return options;
}

}  // namespace

template <typename T>
Approximation<T> balancekv(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const BalancekvOptions& options) {
  const arma::uword n_k = problem.n_k();
  require(d >= 1 && d <= n_k, "balancekv", "1 <= d <= n_k", {{"d", d}, {"n_k", n_k}});
  check_balancekv(options);
  const HalvedKeys halved(n_k, d, options);
  const arma::span others(halved.first, halved.first + halved.count - 1);
  const TokenKernel<T> kernel(problem.K().rows(others), problem.V().rows(others), static_cast<T>(options.constant));
  std::vector<std::uint32_t> tokens(halved.count);
  std::iota(tokens.begin(), tokens.end(), 0U);
  const WeightedTokens chosen = balanced_halves(
      kernel, tokens, halved.left, {.gamma = options.gamma, .block = options.block}, draw_key.child("walk"));
  arma::uvec keys(d);
  arma::Col<T> log_weights(d, arma::fill::zeros);
  for (arma::uword s = 0; s < d; ++s) {
    const bool walked = s >= halved.first && s < halved.first + halved.left;
    keys(s) = s < halved.first ? s : walked ? halved.first + chosen.tokens(s - halved.first) : n_k - d + s;
    if (walked) log_weights(s) = static_cast<T>(std::log(chosen.weights(s - halved.first)));
  }
  return coreset_softmax<T>(problem, keys, log_weights);
}

double balancekv_flops(double n_q, double n_k, double p, double p_v, double d, const BalancekvOptions& options) {
  const double kept = std::clamp(std::round(d), 1.0, n_k);
  const HalvedKeys halved(static_cast<arma::uword>(n_k), static_cast<arma::uword>(kept), options);
  return halving_entries(balancing_rounds(halved.count, halved.left, options.block)) *
             TokenKernel<double>::entry_flops(p, p_v) +
         n_q * kept * pair_flops(p, p_v);
}

template <typename T>
Method<T> balancekv_method() {
  Method<T> method;
  method.name = "balancekv";
  method.summary = "softmax over d keys with weights that self-balancing walks leave of all";
  method.source = "BalanceKV (arXiv 2502.07861)";
  method.options = options_of_balancekv().infos();
  method.rectangular = method.rowwise = method.rows_sum_to_one = method.adjoint = always(true);
  method.largest_d = method.exact_at = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const BalancekvOptions options = options_of_balancekv().read(values);
    check_balancekv(options);
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key& draw_key) { return balancekv(problem, d, draw_key, options); },
            [=](double d) { return balancekv_flops(n_q, n_k, p, p_v, d, options); }};
  };
  return method;
}

template Approximation<float> balancekv(const Problem<float>&, arma::uword, const Key&, const BalancekvOptions&);
template Approximation<double> balancekv(const Problem<double>&, arma::uword, const Key&, const BalancekvOptions&);
template Method<float> balancekv_method();
template Method<double> balancekv_method();

}  // namespace croquis
