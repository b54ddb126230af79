#include <cmath>
#include <croquis/attention/skyformer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/linalg/rows.hpp>
#include <memory>
#include <stdexcept>

namespace croquis {
namespace {

// What d and the trials share.
template <typename T>
struct Shared {
  LiftedPoints<T> lift;
  LandmarkSampler<T> landmarks;

  Shared(const Problem<T>& problem, const SkyformerOptions& options)
      : lift(problem.shared_Q(), problem.shared_K()), landmarks(lift.kernel(), options.landmarks, options.given) {}
};

// (W + gamma I)^+ as an operator, in factors; `drawn` landmarks, repeated ones included.
template <typename T>
LinearOperator<T> invert_core(arma::Mat<T> core, const LiftedPoints<T>& lift, arma::uword drawn,
                              const SkyformerOptions& options, Diagnostics& diagnostics) {
  const arma::uword d = core.n_rows;
  core.diag() += static_cast<T>(options.ridge);
  if (options.inverse == SkyformerOptions::Inverse::pinv) {
    const T cutoff = core_cutoff(lift, drawn);
    if (std::optional<arma::Mat<T>> root = inverse_root_psd(core, cutoff)) {  // nothing to cut off
      diagnostics.rank = d;
      const auto r = std::make_shared<const arma::Mat<T>>(std::move(*root));
      const auto apply = [r](const arma::Mat<T>& x) { return product(*r, product_tn(*r, x)); };
      return {d, d, apply, apply};
    }
    const auto pinv = std::make_shared<const PseudoInverse<T>>(pseudo_inverse_psd(core, cutoff));
    diagnostics.rank = pinv->rank();
    const auto apply = [pinv](const arma::Mat<T>& x) { return pinv->apply(x); };
    return {d, d, apply, apply};
  }
  // Lemma 3: N = D^{-1/2} (W + gamma I) D^{-1/2} with D = diag((W + gamma I) 1).
  const arma::Col<T> root = T(1) / arma::sqrt(arma::sum(core, 1));
  core.each_col() %= root;
  core.each_row() %= root.t();
  IterativeInverse<T> z = iterative_inverse(
      core, {.start = InverseStart::transpose_one, .iterations = options.iterations, .symmetric = true});
  diagnostics.residual = z.residual;
  diagnostics.iterations = z.iterations;
  z.inverse.each_col() %= root;
  z.inverse.each_row() %= root.t();
  return as_operator(std::move(z.inverse));
}

// C~ = left (W + gamma I)^+ right^T on d landmarks.
template <typename T>
struct KernelizedScores {
  LiftedPoints<T> lift;
  arma::Mat<T> landmarks;
  LinearOperator<T> inverse;
  Diagnostics diagnostics;

  // C~ X for a single X: left and right are made in blocks, and forgotten.
  arma::Mat<T> apply(const arma::Mat<T>& x, const StreamedExtra<T>& extra = {}) const {
    const MovedPoints<T> chosen{landmarks};
    return gaussian_product<T>(lift.moved_queries(), chosen,
                               inverse.apply(gaussian_product<T>(chosen, lift.moved_keys(), x)), extra);
  }

  // C~ for many, with left and right in memory.
  LinearOperator<T> stored() const {
    const auto left = std::make_shared<const arma::Mat<T>>(gaussian_kernel(lift.queries(), landmarks)),
               right = std::make_shared<const arma::Mat<T>>(gaussian_kernel(lift.keys(), landmarks));
    const LinearOperator<T> core = inverse;
    return {lift.n(), lift.n(),
            [=](const arma::Mat<T>& x) -> arma::Mat<T> { return product(*left, core.apply(product_tn(*right, x))); },
            [=](const arma::Mat<T>& x) -> arma::Mat<T> {
              return product(*right, core.apply_transposed(product_tn(*left, x)));
            }};
  }
};

template <typename T>
KernelizedScores<T> kernelized_scores(const Shared<T>& shared, arma::uword d, const Key& draw_key,
                                      const SkyformerOptions& options) {
  const LiftedPoints<T>& lift = shared.lift;
  const arma::uword n = lift.n();
  require(d >= 1 && d <= 2 * n, "skyformer", "1 <= d <= 2n", {{"d", d}, {"n", n}});
  require(options.ridge >= 0 && std::isfinite(options.ridge), "skyformer", "ridge >= 0", {{"ridge", options.ridge}});
  arma::uvec indices = shared.landmarks.draw(d, draw_key.child("landmarks"));
  // A point drawn twice adds nothing to the span: without it the core is of full rank, and a pseudo-inverse cheaper.
  if (options.inverse == SkyformerOptions::Inverse::pinv && options.ridge == 0) indices = arma::unique(indices);
  KernelizedScores<T> scores{lift, lift.points(indices), {}, {}};
  scores.inverse = invert_core(gaussian_kernel(scores.landmarks), lift, d, options, scores.diagnostics);
  return scores;
}

template <typename T>
Approximation<T> kernelized(const Shared<T>& shared, const Problem<T>& problem, arma::uword d, const Key& draw_key,
                            const SkyformerOptions& options) {
  const KernelizedScores<T> c = kernelized_scores(shared, d, draw_key, options);
  Approximation<T> approximation;
  approximation.output = c.apply(problem.V());
  approximation.scores = deferred<T>(problem.n(), problem.n(), [c] { return c.stored(); });
  approximation.diagnostics = c.diagnostics;
  return approximation;
}

template <typename T>
Approximation<T> softmax(const Shared<T>& shared, const Problem<T>& problem, arma::uword d, const Key& draw_key,
                         const SkyformerOptions& options) {
  const KernelizedScores<T> c = kernelized_scores(shared, d, draw_key, options);
  const arma::uword n = problem.n(), p_v = problem.p_v();
  // Lemma 1 in logarithms: log a_ij = ||q_i||^2 / (2 sqrt(p)) + log c_ij + ||k_j||^2 / (2 sqrt(p)).
  const T scale = T(0.5) / std::sqrt(static_cast<T>(problem.p()));
  const arma::Col<T> log_key = scale * squared_row_norms(problem.K());
  const arma::Col<T> weights = arma::exp(log_key - log_key.max());
  arma::Mat<T> columns(n, p_v + 1, arma::fill::none);  // V and 1: the denominators come with the output
  columns.head_cols(p_v) = problem.V();
  columns.col(p_v).ones();
  multiply_rows(columns, weights);
  Approximation<T> approximation;
  Denominators<T> denominators{{}, scale * squared_row_norms(problem.Q()) + log_key.max()};
  approximation.output = c.apply(columns, {.last = &denominators.values});
  const arma::uvec zero = arma::find(denominators.values == 0);
  if (!zero.is_empty()) {
    throw std::runtime_error("skyformer-softmax: " + std::to_string(zero.n_elem) +
                             " denominators are zero; keys that matter to those rows underflow");
  }
  divide_rows(approximation.output, denominators.values);
  approximation.row_sums = arma::Col<T>(n, arma::fill::ones);
  approximation.scores = deferred<T>(n, n, [=]() -> LinearOperator<T> {
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
        n, n, [=](const arma::Mat<T>& x) -> arma::Mat<T> { return between(inverse, stored.apply, weights, x); },
        [=](const arma::Mat<T>& x) -> arma::Mat<T> { return between(weights, stored.apply_transposed, inverse, x); }};
  });
  approximation.denominators = std::move(denominators);
  approximation.diagnostics = c.diagnostics;
  return approximation;
}

const Options<SkyformerOptions>& options_of_skyformer() {
  using O = SkyformerOptions;
  static const Options<O> options =
      Options<O>()
          .preset("code: stratified landmarks, ridge 0.1, six iterations", {{"paper", {}}, {"code", O::code()}})
          .choice("landmarks", &O::landmarks, in_order<LandmarkPolicy>(landmark_policy_names()),
                  "which d of the 2n points")
          .indices("indices", &O::given, "landmarks=given: query i is i, key j is n + j; the first d are used")
          .choice("inverse", &O::inverse,
                  Choices<O::Inverse>{{"pinv", O::Inverse::pinv}, {"iterative", O::Inverse::iterative}},
                  "the core by eigenvalues or by the iteration of Lemma 3")
          .number("ridge", &O::ridge, 0, 1e6, "added to the unit diagonal of the core")
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
  method.bind = [approximate](const Problem<T>& problem, const OptionValues& values) -> BoundMethod<T> {
    const SkyformerOptions options = options_of_skyformer().read(values);
    const Shared<T> shared(problem, options);
    const auto n = static_cast<double>(problem.n()), p = static_cast<double>(problem.p()),
               p_v = static_cast<double>(problem.p_v());
    const double cube = options.inverse == SkyformerOptions::Inverse::pinv ? 9 : 8.0 * options.iterations;
    return {[=](arma::uword d, const Key& draw_key) { return approximate(shared, problem, d, draw_key, options); },
            [=](double d) {
              return 4 * n * d * p + 2 * d * d * p + 2 * n * d + d * d + cube * d * d * d + 4 * n * d * p_v +
                     4 * d * d * p_v;
            }};
  };
  return method;
}

}  // namespace

SkyformerOptions SkyformerOptions::code() {
  return {.landmarks = LandmarkPolicy::stratified,
          .given = {},
          .inverse = Inverse::iterative,
          .ridge = 0.1,
          .iterations = 6};
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
