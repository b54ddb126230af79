#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/nystromformer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/kernel/kernel_matrix.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/iterative_inverse.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/nystrom/segment_means.hpp>
#include <limits>
#include <memory>

namespace croquis {
namespace {

// What d and the trials share: how landmarks are drawn, if they are.
template <typename T>
using Landmarks = std::optional<LandmarkSampler<T>>;

template <typename T>
Landmarks<T> landmarks_of(const Problem<T>& problem, const NystromformerOptions& options) {
  if (!options.landmarks) return std::nullopt;
  require_square(problem, "nystromformer");  // rows J of Q and of K are the same tokens
  const T scale = std::pow(static_cast<T>(problem.p()), T(-0.25));
  return LandmarkSampler<T>(gaussian_kernel_matrix<T>(scale * problem.K()), *options.landmarks, options.given);
}

template <typename T>
Approximation<T> approximate(const Problem<T>& problem, const Landmarks<T>& landmarks, arma::uword d,
                             const Key& draw_key, const NystromformerOptions& options) {
  require(d >= 1 && d <= std::min(problem.n_q(), problem.n_k()), "nystromformer", "1 <= d <= min(n_q, n_k)",
          {{"d", d}, {"n_q", problem.n_q()}, {"n_k", problem.n_k()}});
  if (options.exact_at_n && d == problem.n_q() && d == problem.n_k()) {
    return from_scores(exact_scores(problem, Target::softmax), problem);
  }
  arma::Mat<T> q, k;
  if (landmarks) {
    const arma::uvec rows = landmarks->draw(d, draw_key.child("landmarks"));
    q = problem.Q().rows(rows);
    k = problem.K().rows(rows);
    d = rows.n_elem;  // a policy may find fewer that differ
  } else {
    q = segment_means(problem.Q(), d);
    k = segment_means(problem.K(), d);
  }
  const arma::Mat<T> core = softmax_transposed(q, k).t();

  LinearOperator<T> inverse;
  Diagnostics diagnostics;
  if (options.inverse == NystromformerOptions::Inverse::pinv) {
    const auto pinv = std::make_shared<const PseudoInverse<T>>(
        pseudo_inverse<T>(core, static_cast<T>(d) * std::numeric_limits<T>::epsilon()));
    diagnostics.rank = pinv->rank();
    inverse = {d, d, [pinv](const arma::Mat<T>& x) { return pinv->apply(x); },
               [pinv](const arma::Mat<T>& x) { return pinv->apply_transposed(x); }};
  } else {
    IterativeInverse<T> z = iterative_inverse(core, {.start = options.start, .iterations = options.iterations});
    diagnostics.residual = z.residual;
    diagnostics.iterations = z.iterations;
    inverse = as_operator(std::move(z.inverse));
  }

  Approximation<T> approximation;
  // V and, as the last column, 1: the rows of G sum to 1.
  const arma::Mat<T> values =
      arma::join_rows(softmax_product<T>(q, problem.K(), problem.V()), arma::Mat<T>(d, 1, arma::fill::ones));
  approximation.output =
      softmax_product<T>(problem.Q(), k, inverse.apply(values), {.last = &approximation.row_sums.emplace()});
  approximation.scores = deferred<T>(problem.n_q(), problem.n_k(), [=]() -> LinearOperator<T> {
    const auto left = std::make_shared<const arma::Mat<T>>(softmax_transposed(problem.Q(), k));   // F^T, d x n_q
    const auto right = std::make_shared<const arma::Mat<T>>(softmax_transposed(q, problem.K()));  // G^T, n_k x d
    return {
        problem.n_q(), problem.n_k(),
        [=](const arma::Mat<T>& x) -> arma::Mat<T> { return product_tn(*left, inverse.apply(product_tn(*right, x))); },
        [=](const arma::Mat<T>& x) -> arma::Mat<T> {
          return product(*right, inverse.apply_transposed(product(*left, x)));
        }};
  });
  approximation.diagnostics = diagnostics;
  return approximation;
}

const Options<NystromformerOptions>& options_of_nystromformer() {
  using O = NystromformerOptions;
  using Policy = std::optional<LandmarkPolicy>;
  Choices<Policy> policies = {{"segments", std::nullopt}};
  for (const auto& [name, policy] : in_order<LandmarkPolicy>(landmark_policy_names()))
    policies.emplace_back(name, policy);
  static const Options<O> options =
      Options<O>()
          .preset("code: start=one, exact for d = n", {{"paper", {}}, {"code", O::code()}})
          .choice("inverse", &O::inverse,
                  Choices<O::Inverse>{{"iterative", O::Inverse::iterative}, {"pinv", O::Inverse::pinv}},
                  "the core by six steps or by singular values")
          .count("iterations", &O::iterations, 0, 100, "steps of the iterative inverse")
          .choice("start", &O::start,
                  Choices<InverseStart>{{"both", InverseStart::transpose_both}, {"one", InverseStart::transpose_one}},
                  "A^T / (||A||_1 ||A||_inf), or A^T / ||A||_1")
          .choice("landmarks", &O::landmarks, policies,
                  "segment means, or rows of Q and K chosen on the kernel matrix of the keys")
          .indices("indices", &O::given, "landmarks=given: tokens, the first d are used");
  return options;
}

}  // namespace

NystromformerOptions NystromformerOptions::code() {
  NystromformerOptions options;
  options.start = InverseStart::transpose_one;
  options.exact_at_n = true;
  return options;
}

template <typename T>
Approximation<T> nystromformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                               const NystromformerOptions& options) {
  return approximate(problem, landmarks_of(problem, options), d, draw_key, options);
}

template <typename T>
Method<T> nystromformer_method() {
  Method<T> method;
  method.name = "nystromformer";
  method.summary = "segment-mean landmarks, three softmax matrices, iterative inverse";
  method.source = "Nystromformer Alg. 1";
  method.random = [](const OptionValues& values) {
    const NystromformerOptions options = options_of_nystromformer().read(values);
    return options.landmarks.has_value() && options.landmarks != LandmarkPolicy::given;
  };
  method.options = options_of_nystromformer().infos();
  method.rectangular = [](const OptionValues& values) {
    return !options_of_nystromformer().read(values).landmarks.has_value();
  };
  method.exact_on_equal_tokens = always(true);
  method.largest_d = [](TokenAlignment shape, const OptionValues&) { return std::min(shape.n_q, shape.n_k); };
  // Lemma 2: segments of one token each.
  method.exact_at = [](TokenAlignment shape, const OptionValues& values) -> std::optional<arma::uword> {
    const NystromformerOptions options = options_of_nystromformer().read(values);
    const bool pinv = options.inverse == NystromformerOptions::Inverse::pinv && !options.landmarks;
    if (shape.n_q != shape.n_k || !(pinv || options.exact_at_n)) return std::nullopt;
    return shape.n();
  };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const NystromformerOptions options = options_of_nystromformer().read(values);
    const Landmarks<T> landmarks = landmarks_of(problem, options);
    const auto n = static_cast<double>(problem.n_q() + problem.n_k()), p = static_cast<double>(problem.p()),
               p_v = static_cast<double>(problem.p_v());
    const double cube = options.inverse == NystromformerOptions::Inverse::pinv ? 22 : 8.0 * options.iterations;
    return {[=](arma::uword d, const Key& draw_key) { return approximate(problem, landmarks, d, draw_key, options); },
            [=](double d) {
              return 2 * n * d * p + 2 * d * d * p + (n * d + d * d) + cube * d * d * d + 2 * n * d * p_v +
                     2 * d * d * p_v;
            }};
  };
  return method;
}

template Approximation<float> nystromformer(const Problem<float>&, arma::uword, const Key&,
                                            const NystromformerOptions&);
template Approximation<double> nystromformer(const Problem<double>&, arma::uword, const Key&,
                                             const NystromformerOptions&);
template Method<float> nystromformer_method();
template Method<double> nystromformer_method();

}  // namespace croquis
