#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/attention/nystromformer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/kernel/kernel_matrix.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/kernel/softmax_adjoint.hpp>
#include <croquis/linalg/inverse_adjoint.hpp>
#include <croquis/linalg/iterative_solve.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/nystrom/segment_means.hpp>
#include <limits>
#include <memory>
#include <utility>

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

// What one draw at one d computes with.
template <typename T>
struct Parts {
  arma::uvec rows;            // the landmarks; empty: segment means
  arma::Mat<T> q, k;          // the landmarks themselves
  arma::Mat<T> core;          // softmax(q k^T / sqrt(p))
  LinearOperator<T> inverse;  // Z, for more than one product
  Diagnostics diagnostics;
};

InverseIteration iteration_of(const NystromformerOptions& options) {
  return {.start = options.start, .iterations = options.iterations};
}

template <typename T>
T cutoff_of(arma::uword d) {
  return static_cast<T>(d) * std::numeric_limits<T>::epsilon();
}

template <typename T>
Parts<T> parts_of(const Problem<T>& problem, const Landmarks<T>& landmarks, arma::uword d, const Key& draw_key,
                  const NystromformerOptions& options) {
  Parts<T> parts;
  if (landmarks) {
    parts.rows = landmarks->draw(d, draw_key.child("landmarks"));
    parts.q = problem.Q().rows(parts.rows);
    parts.k = problem.K().rows(parts.rows);
    d = parts.rows.n_elem;  // a policy may find fewer that differ
  } else {
    parts.q = segment_means(problem.Q(), d);
    parts.k = segment_means(problem.K(), d);
  }
  parts.core = softmax_transposed(parts.q, parts.k).t();
  if (options.inverse == NystromformerOptions::Inverse::pinv) {
    const auto pinv = std::make_shared<const PseudoInverse<T>>(pseudo_inverse<T>(parts.core, cutoff_of<T>(d)));
    parts.diagnostics.rank = pinv->rank();
    parts.inverse = operator_of<T>(d, d, pinv);
  } else {
    parts.inverse = deferred<T>(d, d, [core = parts.core, options] {
      return as_operator(iterative_inverse(core, iteration_of(options)).inverse);
    });
  }
  return parts;
}

// Z X, and what is known of Z.
template <typename T>
arma::Mat<T> solve(const Parts<T>& parts, const arma::Mat<T>& x, const NystromformerOptions& options,
                   Diagnostics& diagnostics) {
  diagnostics = parts.diagnostics;
  if (options.inverse == NystromformerOptions::Inverse::pinv) return parts.inverse.apply(x);
  IterativeSolution<T> z = iterative_solve(parts.core, x, iteration_of(options));
  diagnostics.residual = z.residual;
  diagnostics.iterations = z.iterations;
  return std::move(z.solution);
}

// O~ = F Z G V from right to left, and its derivatives back from left to right.
template <typename T>
Gradient<T> gradient_of(const Problem<T>& problem, const Parts<T>& parts, const NystromformerOptions& options,
                        const arma::Mat<T>& cotangent) {
  const arma::uword d = parts.core.n_rows;
  const arma::Mat<T> gathered = softmax_product<T>(parts.q, problem.K(), problem.V());
  const SoftmaxAdjoint<T> left = softmax_adjoint<T>(problem.Q(), parts.k, parts.inverse.apply(gathered), cotangent);
  const SoftmaxAdjoint<T> right =
      softmax_adjoint<T>(parts.q, problem.K(), problem.V(), parts.inverse.apply_transposed(left.x));
  const arma::Mat<T> of_core =
      options.inverse == NystromformerOptions::Inverse::pinv
          ? pseudo_inverse_adjoint(parts.core, cutoff_of<T>(d), left.x, gathered)
          : iterative_inverse_adjoint(parts.core, iteration_of(options), product_nt(left.x, gathered));
  const T scale = 1 / std::sqrt(static_cast<T>(problem.p()));
  const arma::Mat<T> of_scores = scale * softmax_rows_adjoint(parts.core, of_core);
  const arma::Mat<T> of_q = right.q + product(of_scores, parts.k), of_k = left.k + product_tn(of_scores, parts.q);
  Gradient<T> gradient{left.q, right.k, right.x, {}};
  if (parts.rows.is_empty()) {
    gradient.q += spread_segments(of_q, problem.n_q());
    gradient.k += spread_segments(of_k, problem.n_k());
  } else {
    for (arma::uword a = 0; a < d; ++a) {  // a row may be drawn twice
      gradient.q.row(parts.rows[a]) += of_q.row(a);
      gradient.k.row(parts.rows[a]) += of_k.row(a);
    }
  }
  return gradient;
}

template <typename T>
Approximation<T> approximate(const Problem<T>& problem, const Landmarks<T>& landmarks, arma::uword d,
                             const Key& draw_key, const NystromformerOptions& options) {
  require(d >= 1 && d <= std::min(problem.n_q(), problem.n_k()), "nystromformer", "1 <= d <= min(n_q, n_k)",
          {{"d", d}, {"n_q", problem.n_q()}, {"n_k", problem.n_k()}});
  if (options.exact_at_n && d == problem.n_q() && d == problem.n_k()) {
    Approximation<T> exact = from_scores(exact_scores(problem, Target::softmax), problem);
    exact.adjoint = exact_adjoint(problem, Target::softmax);
    return exact;
  }
  const auto parts = std::make_shared<const Parts<T>>(parts_of(problem, landmarks, d, draw_key, options));
  Approximation<T> approximation;
  // V and, as the last column, 1: the rows of G sum to 1.
  const arma::Mat<T> values = arma::join_rows(softmax_product<T>(parts->q, problem.K(), problem.V()),
                                              arma::Mat<T>(parts->q.n_rows, 1, arma::fill::ones));
  approximation.output =
      softmax_product<T>(problem.Q(), parts->k, solve(*parts, values, options, approximation.diagnostics),
                         {.last = &approximation.row_sums.emplace()});
  approximation.adjoint = adjoint_of<T>(
      problem, [=](const arma::Mat<T>& cotangent) { return gradient_of(problem, *parts, options, cotangent); });
  approximation.scores = deferred<T>(problem.n_q(), problem.n_k(), [=]() -> LinearOperator<T> {
    const auto left = std::make_shared<const arma::Mat<T>>(softmax_transposed(problem.Q(), parts->k));   // F^T, d x n_q
    const auto right = std::make_shared<const arma::Mat<T>>(softmax_transposed(parts->q, problem.K()));  // G^T, n_k x d
    const LinearOperator<T> inverse = parts->inverse;
    return {
        problem.n_q(), problem.n_k(),
        [=](const arma::Mat<T>& x) -> arma::Mat<T> { return product_tn(*left, inverse.apply(product_tn(*right, x))); },
        [=](const arma::Mat<T>& x) -> arma::Mat<T> {
          return product(*right, inverse.apply_transposed(product(*left, x)));
        }};
  });
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
  method.adjoint = method.exact_on_equal_tokens = always(true);
  method.quadratic = [](const OptionValues& values) {
    return options_of_nystromformer().read(values).landmarks == LandmarkPolicy::leverage;
  };
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
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()), n = n_q + n_k,
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    const auto of_core = [=](double d) {  // Z times d x (p_v + 1)
      if (options.inverse == NystromformerOptions::Inverse::pinv) return 22 * d * d * d + 2 * d * d * p_v;
      return iterative_solve_flops(d, p_v + 1, iteration_of(options));
    };
    return {[=](arma::uword d, const Key& draw_key) { return approximate(problem, landmarks, d, draw_key, options); },
            [=](double d) {
              if (options.exact_at_n && d == n_q && d == n_k) return d * d * pair_flops(p, p_v);
              const double chosen = options.landmarks ? landmark_flops(*options.landmarks, n_k, p, d) : 0;
              return chosen + 2 * n * d * p + 2 * d * d * p + (n * d + d * d) + of_core(d) + 2 * n * d * p_v;
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
