#include <cmath>
#include <croquis/attention/kernelized_scores.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/linalg/iterative_solve.hpp>
#include <croquis/linalg/rows.hpp>
#include <utility>

namespace croquis {
namespace {

// What d and the trials share.
template <typename T>
struct Shared {
  LiftedPoints<T> lift;
  LandmarkSampler<T> landmarks;

  Shared(const Problem<T>& problem, const SkyformerOptions& options)
      : lift(problem.shared_Q(), problem.shared_K()),
        landmarks(lift.kernel(), options.landmarks, options.given, problem.n_q()) {}
};

// C~, and which of the points its landmarks are.
template <typename T>
struct Chosen {
  arma::uvec indices;
  KernelizedScores<T> scores;

  // The derivatives of <G, C~ X>, those of the landmarks with the queries and keys that they are.
  typename KernelizedScores<T>::Adjoints adjoint(const arma::Mat<T>& x, const arma::Mat<T>& cotangent) const {
    auto result = scores.adjoint(x, cotangent);
    const arma::uword n_q = result.queries.n_rows;
    for (arma::uword a = 0; a < indices.n_elem; ++a) {
      const arma::uword i = indices[a];
      if (i < n_q) {
        result.queries.row(i) += result.landmarks.row(a);
      } else {
        result.keys.row(i - n_q) += result.landmarks.row(a);
      }
    }
    return result;
  }
};

template <typename T>
Chosen<T> chosen_landmarks(const Shared<T>& shared, arma::uword d, const Key& draw_key,
                           const SkyformerOptions& options) {
  const LiftedPoints<T>& lift = shared.lift;
  require(d >= 1 && d <= lift.size(), "skyformer", "1 <= d <= n_q + n_k",
          {{"d", d}, {"n_q", lift.n_q()}, {"n_k", lift.n_k()}});
  require(options.ridge >= 0 && std::isfinite(options.ridge), "skyformer", "ridge >= 0 and finite",
          {{"ridge", options.ridge}});
  DistinctLandmarks<T> landmarks =
      distinct_where_it_is_better<T>(shared.landmarks.draw(d, draw_key.child("landmarks")), options,
                                     [&](const arma::uvec& indices) { return lift.given(indices); });
  return {std::move(landmarks.indices), {lift, std::move(landmarks.rows), d, options}};
}

template <typename T>
Approximation<T> kernelized(const Shared<T>& shared, const Problem<T>& problem, arma::uword d, const Key& draw_key,
                            const SkyformerOptions& options) {
  const Chosen<T> chosen = chosen_landmarks(shared, d, draw_key, options);
  const KernelizedScores<T>& c = chosen.scores;
  Approximation<T> approximation;
  approximation.output = c.apply(problem.V(), {}, &approximation.diagnostics);
  approximation.adjoint = adjoint_of<T>(problem, [=](const arma::Mat<T>& cotangent) -> Gradient<T> {
    auto of = chosen.adjoint(problem.V(), cotangent);
    return {std::move(of.queries), std::move(of.keys), std::move(of.x), {}};
  });
  approximation.scores = deferred<T>(problem.n_q(), problem.n_k(), [c = c] { return c.stored(); });
  return approximation;
}

// O~ = N / s for [N s] = C~ (w o [V 1]), w_j = exp(||k_j||^2 / (2 sqrt(p))) over the largest, which cancels.
template <typename T>
Gradient<T> softmax_gradient(const Problem<T>& problem, const Chosen<T>& chosen, const arma::Col<T>& weights,
                             const arma::Mat<T>& cotangent) {
  const arma::uword p_v = problem.p_v();
  const arma::Mat<T> x = weighted_values(problem.V(), weights);
  arma::Col<T> sums;
  arma::Mat<T> output = chosen.scores.apply(x, {.last = &sums});
  divide_rows(output, sums);
  arma::Mat<T> of_sums = arma::join_rows(cotangent, arma::Mat<T>(-row_products(cotangent, output)));
  divide_rows(of_sums, sums);
  auto of = chosen.adjoint(x, of_sums);
  // x_j = w_j [v_j 1]: by the logarithm of w_j, <dx_j, x_j>.
  const T scale = 1 / std::sqrt(static_cast<T>(problem.p()));
  arma::Mat<T> by_weights = problem.K();
  multiply_rows<T>(by_weights, scale * row_products(of.x, x));
  multiply_rows(of.x, weights);
  return {std::move(of.queries), of.keys + by_weights, of.x.head_cols(p_v), {}};
}

template <typename T>
Approximation<T> softmax(const Shared<T>& shared, const Problem<T>& problem, arma::uword d, const Key& draw_key,
                         const SkyformerOptions& options) {
  const Chosen<T> chosen = chosen_landmarks(shared, d, draw_key, options);
  const KernelizedScores<T>& c = chosen.scores;
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  const arma::Col<T> log_key = log_prefactors(problem.K());
  const arma::Col<T> weights = arma::exp(log_key - log_key.max());
  Approximation<T> approximation;
  SoftmaxRows<T> rows = softmax_rows(c, c.gather(weighted_values(problem.V(), weights)), &approximation.diagnostics);
  require_denominators(rows.zero, rows.rounded);
  approximation.output = std::move(rows.output);
  approximation.denominators = {std::move(rows.sums), log_prefactors(problem.Q()) + log_key.max()};
  approximation.row_sums = arma::Col<T>(n_q, arma::fill::ones);
  approximation.adjoint = adjoint_of<T>(
      problem, [=](const arma::Mat<T>& cotangent) { return softmax_gradient(problem, chosen, weights, cotangent); });
  approximation.scores = deferred<T>(n_q, n_k, [=, c = c]() -> LinearOperator<T> {
    const LinearOperator<T> stored = c.stored();
    // Denominators of their own: the sums are those of the rows that are applied, to the last bit.
    const arma::Col<T> inverse = T(1) / arma::Col<T>(stored.apply(weights));
    const auto between = [](const arma::Col<T>& after, const auto& product, const arma::Col<T>& before,
                            arma::Mat<T> x) {
      multiply_rows(x, before);
      x = product(x);
      multiply_rows(x, after);
      return x;
    };
    return {
        n_q, n_k, [=](const arma::Mat<T>& x) -> arma::Mat<T> { return between(inverse, stored.apply, weights, x); },
        [=](const arma::Mat<T>& x) -> arma::Mat<T> { return between(weights, stored.apply_transposed, inverse, x); }};
  });
  return approximation;
}

const Options<SkyformerOptions>& options_of_skyformer() {
  using O = SkyformerOptions;
  static const Options<O> options =
      Options<O>()
          .preset("code: stratified landmarks, ridge 0.1, six iterations, start=one",
                  {{"paper", {}}, {"code", O::code()}})
          .choice("landmarks", &O::landmarks, in_order<LandmarkPolicy>(landmark_policy_names()),
                  "which d of the n_q + n_k points")
          .indices("indices", &O::given, "landmarks=given: query i is i, key j is n_q + j; the first d are used")
          .choice("inverse", &O::inverse,
                  Choices<O::Inverse>{{"pinv", O::Inverse::pinv}, {"iterative", O::Inverse::iterative}},
                  "the core by eigenvalues or by the iteration of Lemma 3")
          .number("ridge", &O::ridge, 0, 1e6, "added to the unit diagonal of the core")
          .choice("start", &O::start, in_order<InverseStart>({"identity", "both", "one"}),
                  "of the iterative inverse: I, N^T / (||N||_1 ||N||_inf), or N^T / ||N||_1")
          .count("iterations", &O::iterations, 0, 100, "steps of the iterative inverse");
  return options;
}

// The two methods differ in target and in one function.
template <typename T, typename Approximate>
Method<T> method_of(const char* name, const char* summary, const char* source, Target target, Approximate approximate) {
  Method<T> method;
  method.name = name;
  method.summary = summary;
  method.source = source;
  method.target = target;
  method.options = options_of_skyformer().infos();
  method.random = [](const OptionValues& values) {
    return options_of_skyformer().read(values).landmarks != LandmarkPolicy::given;
  };
  method.adjoint = method.rectangular = always(true);
  method.quadratic = [](const OptionValues& values) {
    return options_of_skyformer().read(values).landmarks == LandmarkPolicy::leverage;
  };
  method.rows_sum_to_one = always(is_normalised(target));
  // Where rows do not sum to 1, they are as exact as the inverse: the iteration's is an approximation.
  method.exact_on_equal_tokens = [target](const OptionValues& values) {
    const SkyformerOptions options = options_of_skyformer().read(values);
    return options.ridge == 0 && (is_normalised(target) || options.inverse == SkyformerOptions::Inverse::pinv);
  };
  method.largest_d = [](TokenAlignment shape, const OptionValues&) { return shape.n_q + shape.n_k; };
  // These policies draw different points.
  method.exact_at = [](TokenAlignment shape, const OptionValues& values) -> std::optional<arma::uword> {
    const SkyformerOptions options = options_of_skyformer().read(values);
    const bool all =
        options.landmarks == LandmarkPolicy::rp_cholesky || options.landmarks == LandmarkPolicy::recursive_leverage;
    if (!all || options.ridge > 0 || options.inverse != SkyformerOptions::Inverse::pinv) return std::nullopt;
    return shape.n_q + shape.n_k;
  };
  method.prepare = [approximate](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const SkyformerOptions options = options_of_skyformer().read(values);
    const Shared<T> shared(problem, options);
    const auto n = static_cast<double>(problem.n_q() + problem.n_k()), p = static_cast<double>(problem.p()),
               p_v = static_cast<double>(problem.p_v());
    return {[=](arma::uword d, const Key& draw_key) { return approximate(shared, problem, d, draw_key, options); },
            [=](double d) { return skyformer_flops(n, p, p_v, d, options); }};
  };
  return method;
}

}  // namespace

SkyformerOptions SkyformerOptions::code() {
  return {.landmarks = LandmarkPolicy::stratified,
          .given = {},
          .inverse = Inverse::iterative,
          .ridge = 0.1,
          .start = InverseStart::transpose_one,
          .iterations = 6};
}

SkyformerOptions skyformer_options(const OptionValues& values) {
  return options_of_skyformer().read(values);
}

double skyformer_flops(double n, double p, double p_v, double d, const SkyformerOptions& options) {
  const double of_core = options.inverse == SkyformerOptions::Inverse::pinv
                             ? 9 * d * d * d + 4 * d * d * p_v
                             : iterative_solve_flops(d, p_v + 1, iteration_of(options));
  return 2 * n * d * p + 2 * d * d * p + n * d + d * d + of_core + 2 * n * d * p_v +
         landmark_flops(options.landmarks, n, p, d);
}

template <typename T>
Approximation<T> skyformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                           const SkyformerOptions& options) {
  return kernelized(Shared<T>(problem, options), problem, d, draw_key, options);
}

template <typename T>
Approximation<T> skyformer_softmax(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                   const SkyformerOptions& options) {
  return softmax(Shared<T>(problem, options), problem, d, draw_key, options);
}

template <typename T>
Method<T> skyformer_method() {
  return method_of<T>("skyformer", "Nystrom on the PSD lift of the Gaussian scores C", "Skyformer Sec. 4.2, 4.4",
                      Target::kernelized, kernelized<T>);
}

template <typename T>
Method<T> skyformer_softmax_method() {
  return method_of<T>("skyformer-softmax",
                      "Nystrom on the PSD lift of the softmax scores A, rows divided by their sums", "Skyformer Fig. 1",
                      Target::softmax, softmax<T>);
}

template Approximation<float> skyformer(const Problem<float>&, arma::uword, const Key&, const SkyformerOptions&);
template Approximation<double> skyformer(const Problem<double>&, arma::uword, const Key&, const SkyformerOptions&);
template Approximation<float> skyformer_softmax(const Problem<float>&, arma::uword, const Key&,
                                                const SkyformerOptions&);
template Approximation<double> skyformer_softmax(const Problem<double>&, arma::uword, const Key&,
                                                 const SkyformerOptions&);
template Method<float> skyformer_method();
template Method<double> skyformer_method();
template Method<float> skyformer_softmax_method();
template Method<double> skyformer_softmax_method();

}  // namespace croquis
