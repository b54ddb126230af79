#include <croquis/attention/column_scores.hpp>
#include <croquis/attention/coreset_softmax.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/kernel/softmax_adjoint.hpp>
#include <utility>

namespace croquis {

template <typename T>
Approximation<T> coreset_softmax(const Problem<T>& problem, const arma::uvec& keys, const arma::Col<T>& log_weights) {
  Approximation<T> approximation;
  Denominators<T>& denominators = approximation.denominators.emplace();
  approximation.output =
      softmax_product<T>(problem.Q(), problem.K().rows(keys), problem.V().rows(keys),
                         {.row_maxima = &denominators.log_scale, .sums = &denominators.values}, log_weights);
  approximation.adjoint = adjoint_of<T>(problem, [=](const arma::Mat<T>& cotangent) {
    const arma::Mat<T>&k = problem.K(), &v = problem.V();
    const SoftmaxAdjoint<T> of = softmax_adjoint<T>(problem.Q(), k.rows(keys), v.rows(keys), cotangent, log_weights);
    Gradient<T> gradient{of.q,
                         arma::Mat<T>(k.n_rows, k.n_cols, arma::fill::zeros),
                         arma::Mat<T>(v.n_rows, v.n_cols, arma::fill::zeros),
                         {}};
    gradient.k.rows(keys) = of.k;
    gradient.v.rows(keys) = of.x;
    return gradient;
  });
  approximation.scores = deferred<T>(problem.n_q(), problem.n_k(), [=] {
    ColumnScores<T> scores;
    scores.n_k = problem.n_k();
    scores.columns = keys;
    scores.weights = scores_transposed<T>(problem.Q(), problem.K().rows(keys));
    scores.weights.each_col() += log_weights;
    softmax_columns(scores.weights);
    return as_operator(std::move(scores));
  });
  return approximation;
}

template Approximation<float> coreset_softmax(const Problem<float>&, const arma::uvec&, const arma::Col<float>&);
template Approximation<double> coreset_softmax(const Problem<double>&, const arma::uvec&, const arma::Col<double>&);

}  // namespace croquis
