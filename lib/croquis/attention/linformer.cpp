#include <cmath>
#include <croquis/attention/linformer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/kernel/softmax_adjoint.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/nystrom/segment_means.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <memory>
#include <utility>
#include <vector>

namespace croquis {
namespace {

using Distribution = LinformerOptions::Distribution;

constexpr double kCodeDeviation = 0.02;

// E^T (n x d) with entries (2 u - 1) / sqrt(d), u the middles of 2^53 intervals of (0, 1).
template <typename T>
arma::Mat<T> uniform_entries(arma::uword n, arma::uword d, const Key& draw_key) {
  arma::Mat<T> entries(n, d);
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  parallel_for(d, [&](std::size_t j) {
    std::vector<std::uint64_t> words(n);
    fill_words(draw_key.child(j), 0, n, words.data());
    for (arma::uword i = 0; i < n; ++i) {
      const double u = (static_cast<double>(words[i] >> 11) + 0.5) * 0x1p-53;
      entries(i, j) = static_cast<T>(scale * (2 * u - 1));
    }
  });
  return entries;
}

const Options<LinformerOptions>& options_of_linformer() {
  using O = LinformerOptions;
  static const Options<O> options =
      Options<O>()
          .preset("code: distribution=code, shared=yes", {{"paper", {}}, {"code", O::code()}})
          .choice("distribution", &O::distribution, in_order<Distribution>({"normal", "code", "uniform", "segments"}),
                  "entries N(0, 1/d), N(0, 0.02^2), uniform within 1/sqrt(d), or segment means")
          .flag("shared", &O::shared, "F = E");
  return options;
}

}  // namespace

LinformerOptions LinformerOptions::code() {
  return {.distribution = Distribution::code, .shared = true};
}

template <typename T>
LinearOperator<T> linformer_projection(Distribution distribution, arma::uword n, arma::uword d, const Key& draw_key) {
  require(d >= 1 && d <= n, "linformer", "1 <= d <= n_k", {{"d", d}, {"n_k", n}});
  if (distribution == Distribution::segments) {
    return {d, n, [d](const arma::Mat<T>& x) { return segment_means(x, d); },
            [n](const arma::Mat<T>& x) { return spread_segments(x, n); }};
  }
  const auto transposed = std::make_shared<arma::Mat<T>>(distribution == Distribution::uniform
                                                             ? uniform_entries<T>(n, d, draw_key)
                                                             : GaussianSketch(n, d, draw_key).template dense<T>());
  if (distribution == Distribution::code)
    *transposed *= static_cast<T>(kCodeDeviation * std::sqrt(static_cast<double>(d)));
  return {d, n, [transposed](const arma::Mat<T>& x) -> arma::Mat<T> { return product_tn(*transposed, x); },
          [transposed](const arma::Mat<T>& x) -> arma::Mat<T> { return product(*transposed, x); }};
}

template <typename T>
Approximation<T> linformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const LinformerOptions& options) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  const LinearOperator<T> e = linformer_projection<T>(options.distribution, n_k, d, draw_key.child("E"));
  const LinearOperator<T> f =
      options.shared ? e : linformer_projection<T>(options.distribution, n_k, d, draw_key.child("F"));
  const arma::Mat<T> keys = e.apply(problem.K());
  Approximation<T> approximation;
  approximation.output = softmax_product<T>(problem.Q(), keys, f.apply(problem.V()));
  approximation.adjoint = adjoint_of<T>(problem, [=](const arma::Mat<T>& cotangent) -> Gradient<T> {
    SoftmaxAdjoint<T> of = softmax_adjoint<T>(problem.Q(), keys, f.apply(problem.V()), cotangent);
    return {std::move(of.q), e.apply_transposed(of.k), f.apply_transposed(of.x), {}};
  });
  approximation.scores = deferred<T>(n_q, n_k, [=]() -> LinearOperator<T> {
    const auto weights = std::make_shared<const arma::Mat<T>>(softmax_transposed<T>(problem.Q(), keys));
    return {n_q, n_k, [weights, f](const arma::Mat<T>& x) -> arma::Mat<T> { return product_tn(*weights, f.apply(x)); },
            [weights, f](const arma::Mat<T>& x) -> arma::Mat<T> { return f.apply_transposed(product(*weights, x)); }};
  });
  return approximation;
}

template <typename T>
Method<T> linformer_method() {
  Method<T> method;
  method.name = "linformer";
  method.summary = "softmax(Q (E K)^T) (F V) with E, F drawn at random, not learnt";
  method.source = "Linformer Eq. 7";
  method.random = [](const OptionValues& values) {
    return options_of_linformer().read(values).distribution != Distribution::segments;
  };
  method.options = options_of_linformer().infos();
  // Segment means take nothing from the sums of rows, and d = n_k of them nothing at all.
  method.adjoint = method.rectangular = method.rowwise = always(true);
  method.rows_sum_to_one = [](const OptionValues& values) {
    return options_of_linformer().read(values).distribution == Distribution::segments;
  };
  method.largest_d = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.exact_at = [](TokenAlignment shape, const OptionValues& values) -> std::optional<arma::uword> {
    if (options_of_linformer().read(values).distribution != Distribution::segments) return std::nullopt;
    return shape.n_k;
  };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const LinformerOptions options = options_of_linformer().read(values);
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key& draw_key) { return linformer(problem, d, draw_key, options); },
            [=](double d) {
              const double projected =
                  options.distribution == Distribution::segments ? n_k * (p + p_v) : 2 * n_k * d * (p + p_v);
              return projected + 2 * n_q * d * (p + p_v) + n_q * d;
            }};
  };
  return method;
}

template LinearOperator<float> linformer_projection(Distribution, arma::uword, arma::uword, const Key&);
template LinearOperator<double> linformer_projection(Distribution, arma::uword, arma::uword, const Key&);
template Approximation<float> linformer(const Problem<float>&, arma::uword, const Key&, const LinformerOptions&);
template Approximation<double> linformer(const Problem<double>&, arma::uword, const Key&, const LinformerOptions&);
template Method<float> linformer_method();
template Method<double> linformer_method();

}  // namespace croquis
