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
  const T scale = std::pow(static_cast<T>(problem.p()), T(-0.25));
  return LandmarkSampler<T>(gaussian_kernel_matrix<T>(scale * problem.K()), *options.landmarks, options.given);
}

template <typename T>
Approximation<T> approximate(const Problem<T>& problem, const Landmarks<T>& landmarks, arma::uword d,
                             const Key& draw_key, const NystromformerOptions& options) {
  require(d >= 1 && d <= problem.n(), "nystromformer", "1 <= d <= n", {{"d", d}, {"n", problem.n()}});
  if (options.exact_at_n && d == problem.n()) return from_scores(exact_scores(problem, Target::softmax), problem);
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
  approximation.scores = deferred<T>(problem.n(), problem.n(), [=]() -> LinearOperator<T> {
    const auto left = std::make_shared<const arma::Mat<T>>(softmax_transposed(problem.Q(), k));   // F^T, d x n
    const auto right = std::make_shared<const arma::Mat<T>>(softmax_transposed(q, problem.K()));  // G^T, n x d
    return {
        problem.n(), problem.n(),
        [=](const arma::Mat<T>& x) -> arma::Mat<T> { return product_tn(*left, inverse.apply(product_tn(*right, x))); },
        [=](const arma::Mat<T>& x) -> arma::Mat<T> {
          return product(*right, inverse.apply_transposed(product(*left, x)));
        }};
  });
  approximation.diagnostics = diagnostics;
  return approximation;
}

NystromformerOptions options_from(const OptionValues& values) {
  NystromformerOptions options;
  if (values.take_choice("preset", {"paper", "code"}, "paper") == "code") options = NystromformerOptions::code();
  using Inverse = NystromformerOptions::Inverse;
  options.inverse =
      values.take_choice("inverse", {"iterative", "pinv"}, "iterative") == "pinv" ? Inverse::pinv : Inverse::iterative;
  options.iterations = values.take_count("iterations", 0, 100, options.iterations);
  const std::string start =
      values.take_choice("start", {"both", "one"}, options.start == InverseStart::transpose_one ? "one" : "both");
  options.start = start == "one" ? InverseStart::transpose_one : InverseStart::transpose_both;
  std::vector<std::string> choices = landmark_policy_names();
  choices.insert(choices.begin(), "segments");
  const std::string landmarks = values.take_choice("landmarks", choices, "segments");
  if (landmarks != "segments") options.landmarks = landmark_policy(landmarks);
  options.given = values.take_indices("indices");
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
    const NystromformerOptions options = options_from(values);
    return options.landmarks.has_value() && options.landmarks != LandmarkPolicy::given;
  };
  method.options = {{"preset", "paper|code", "paper", "code: start=one, exact for d = n"},
                    {"inverse", "iterative|pinv", "iterative", "the core by six steps or by singular values"},
                    {"iterations", "0 to 100", "6", "steps of the iterative inverse"},
                    {"start", "both|one", "both", "A^T / (||A||_1 ||A||_inf), or A^T / ||A||_1"},
                    {"landmarks", "segments|uniform|stratified|leverage|recursive|rpcholesky|given", "segments",
                     "segment means, or rows of Q and K chosen on the kernel matrix of the keys"},
                    {"indices", "FILE.npy", "", "landmarks=given: tokens, the first d are used"}};
  method.bind = [](const Problem<T>& problem, const OptionValues& values) -> BoundMethod<T> {
    const NystromformerOptions options = options_from(values);
    const Landmarks<T> landmarks = landmarks_of(problem, options);
    const auto n = static_cast<double>(problem.n()), p = static_cast<double>(problem.p()),
               p_v = static_cast<double>(problem.p_v());
    const double cube = options.inverse == NystromformerOptions::Inverse::pinv ? 22 : 8.0 * options.iterations;
    return {[=](arma::uword d, const Key& draw_key) { return approximate(problem, landmarks, d, draw_key, options); },
            [=](double d) {
              return 4 * n * d * p + 2 * d * d * p + (2 * n * d + d * d) + cube * d * d * d + 4 * n * d * p_v +
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
