#include <algorithm>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/linformer_unreduced.hpp>
#include <croquis/core/require.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/kernel/softmax_adjoint.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <functional>
#include <memory>
#include <utility>

namespace croquis {
namespace {

// Queries and keys up to which B is stored, 32 MB, and S, d / n of that: no exponentials in a trial.
constexpr arma::uword kStored = 2048;

template <typename T>
bool is_stored(const Problem<T>& problem) {
  return std::max(problem.n_q(), problem.n_k()) <= kStored;
}

template <typename T>
LinearOperator<T> scores_of(const Problem<T>& problem) {
  if (!is_stored(problem)) return exact_scores(problem, Target::softmax);
  const auto transposed = std::make_shared<const arma::Mat<T>>(softmax_transposed(problem.Q(), problem.K()));
  return {problem.n_q(), problem.n_k(), [transposed](const arma::Mat<T>& x) { return product_tn(*transposed, x); },
          [transposed](const arma::Mat<T>& x) { return product(*transposed, x); }};
}

template <typename T>
Approximation<T> sketched(const LinearOperator<T>& scores, const Problem<T>& problem, arma::uword d,
                          const Key& draw_key) {
  require(d >= 1, "linformer-unreduced", "d >= 1", {{"d", d}});
  const GaussianSketch s(problem.n_k(), d, draw_key.child("sketch"));
  std::function<arma::Mat<T>(const arma::Mat<T>&)> project = [s](const arma::Mat<T>& x) { return s.expand(s.left(x)); };
  std::shared_ptr<const arma::Mat<T>> stored;
  if (is_stored(problem)) {
    stored = std::make_shared<const arma::Mat<T>>(s.dense<T>());  // drawn once for both of its products
    project = [stored](const arma::Mat<T>& x) { return product(*stored, product_tn(*stored, x)); };
  }
  const auto apply = [=](const arma::Mat<T>& x) -> arma::Mat<T> {
    if (stored && d < x.n_cols) return product(scores.apply(*stored), product_tn(*stored, x));  // B S is the narrower
    return scores.apply(project(x));
  };
  Approximation<T> approximation = from_scores<T>(
      {problem.n_q(), problem.n_k(), apply, [=](const arma::Mat<T>& x) { return project(scores.apply_transposed(x)); }},
      problem);
  approximation.adjoint = adjoint_of<T>(problem, [=](const arma::Mat<T>& cotangent) -> Gradient<T> {
    SoftmaxAdjoint<T> of = softmax_adjoint<T>(problem.Q(), problem.K(), project(problem.V()), cotangent);
    return {std::move(of.q), std::move(of.k), project(of.x), {}};
  });
  return approximation;
}

}  // namespace

template <typename T>
Approximation<T> linformer_unreduced(const Problem<T>& problem, arma::uword d, const Key& draw_key) {
  return sketched(scores_of(problem), problem, d, draw_key);
}

template <typename T>
Method<T> linformer_unreduced_method() {
  Method<T> method;
  method.name = "linformer-unreduced";
  method.summary = "B S S^T V with Gaussian S: unbiased, quadratic in n";
  method.quadratic = always(true);
  method.source = "Skeinformer Sec. 3.3";
  method.adjoint = method.rectangular = method.rowwise = always(true);
  method.prepare = [](const Problem<T>& problem, const OptionValues&) -> PreparedMethod<T> {
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
    const LinearOperator<T> scores = scores_of(problem);
    const bool stored = is_stored(problem);
    return {[=](arma::uword d, const Key& draw_key) { return sketched(scores, problem, d, draw_key); },
            [=](double d) {
              const bool narrow = stored && d < p_v;  // B S first
              return n_q * n_k * (2 * (p + (narrow ? d : p_v)) + 1) + 2 * (n_k + (narrow ? n_q : n_k)) * d * p_v;
            }};
  };
  return method;
}

template Approximation<float> linformer_unreduced(const Problem<float>&, arma::uword, const Key&);
template Approximation<double> linformer_unreduced(const Problem<double>&, arma::uword, const Key&);
template Method<float> linformer_unreduced_method();
template Method<double> linformer_unreduced_method();

}  // namespace croquis
