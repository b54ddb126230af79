#include <algorithm>
#include <cmath>
#include <croquis/attention/coreset_softmax.hpp>
#include <croquis/attention/thinformer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/sampling/kernel_halving.hpp>
#include <memory>

namespace croquis {
namespace {

// The keys that are halved.
arma::uvec halved_keys(arma::uword n_k, ThinformerOptions::Tokens tokens) {
  if (tokens == ThinformerOptions::Tokens::all) return arma::regspace<arma::uvec>(0, n_k - 1);
  arma::uword n = 1;
  while (4 * n <= n_k) n *= 4;
  return (n_k / n) * arma::regspace<arma::uvec>(0, n - 1);
}

// What d and the trials share.
template <typename T>
struct Halved {
  arma::uvec keys;
  TokenKernel<T> kernel;

  Halved(const Problem<T>& problem, const ThinformerOptions& options)
      : keys(halved_keys(problem.n_k(), options.tokens)), kernel(problem.K().rows(keys), problem.V().rows(keys)) {}
};

template <typename T>
Approximation<T> approximate(const Problem<T>& problem, const Halved<T>& halved, arma::uword d, const Key& draw_key,
                             const ThinformerOptions& options) {
  require(d >= 1 && d <= problem.n_k(), "thinformer", "1 <= d <= n_k", {{"d", d}, {"n_k", problem.n_k()}});
  const arma::uword n = halved.keys.n_elem;
  std::vector<std::uint32_t> tokens(n);
  for (arma::uword j = 0; j < n; ++j) tokens[j] = static_cast<std::uint32_t>(j);
  const WeightedTokens chosen =
      kh_compress(halved.kernel, tokens, std::min(d, n), options.delta, draw_key.child("halving"));
  const double each = static_cast<double>(problem.n_k()) / static_cast<double>(n);
  return coreset_softmax<T>(problem, halved.keys.elem(chosen.tokens),
                            arma::conv_to<arma::Col<T>>::from(arma::log(each * chosen.weights)));
}

const Options<ThinformerOptions>& options_of_thinformer() {
  using O = ThinformerOptions;
  static const Options<O> options =
      Options<O>()
          .preset("code: tokens=thinned", {{"paper", {}}, {"code", O::code()}})
          .choice("tokens", &O::tokens, in_order<O::Tokens>({"all", "thinned"}),
                  "keys that are halved: all; or every so-many-th to a power of 4 of them, as in the code")
          .number("delta", &O::delta, 1e-9, 1, "failure probability of the halvings");
  return options;
}

}  // namespace

double thinformer_flops(double n_q, double n, double p, double p_v, double d) {
  const double kept = std::clamp(std::round(d), 1.0, n);
  return halving_entries(static_cast<arma::uword>(n), static_cast<arma::uword>(kept)) *
             TokenKernel<double>::entry_flops(p, p_v) +
         n_q * kept * pair_flops(p, p_v);
}

template <typename T>
Approximation<T> thinformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                            const ThinformerOptions& options) {
  require(options.delta > 0 && options.delta <= 1, "thinformer", "0 < delta <= 1", {{"delta", options.delta}});
  return approximate(problem, Halved<T>(problem, options), d, draw_key, options);
}

template <typename T>
Method<T> thinformer_method() {
  Method<T> method;
  method.name = "thinformer";
  method.summary = "softmax over d keys with weights that kernel halving leaves of all";
  method.source = "Low-Rank Thinning (arXiv 2502.12063) Sec. 4";
  method.options = options_of_thinformer().infos();
  method.rectangular = method.rowwise = method.rows_sum_to_one = method.adjoint = always(true);
  method.largest_d = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.exact_at = [](TokenAlignment shape, const OptionValues& values) -> std::optional<arma::uword> {
    if (options_of_thinformer().read(values).tokens == ThinformerOptions::Tokens::thinned) return std::nullopt;
    return shape.n_k;
  };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const ThinformerOptions options = options_of_thinformer().read(values);
    const auto halved = std::make_shared<const Halved<T>>(problem, options);
    const auto n_q = static_cast<double>(problem.n_q()), n = static_cast<double>(halved->keys.n_elem),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key& draw_key) { return approximate(problem, *halved, d, draw_key, options); },
            [=](double d) { return thinformer_flops(n_q, n, p, p_v, d); }};
  };
  return method;
}

template Approximation<float> thinformer(const Problem<float>&, arma::uword, const Key&, const ThinformerOptions&);
template Approximation<double> thinformer(const Problem<double>&, arma::uword, const Key&, const ThinformerOptions&);
template Method<float> thinformer_method();
template Method<double> thinformer_method();

}  // namespace croquis
