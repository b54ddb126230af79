#include <croquis/attention/v_mean.hpp>

namespace croquis {

template <typename T>
Approximation<T> v_mean(const Problem<T>& problem) {
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  const T share = static_cast<T>(n_q) / static_cast<T>(n_k);
  return from_scores<T>(
      {n_q, n_k, [=](const arma::Mat<T>& x) -> arma::Mat<T> { return arma::repmat(arma::mean(x, 0), n_q, 1); },
       [=](const arma::Mat<T>& x) -> arma::Mat<T> { return arma::repmat(share * arma::mean(x, 0), n_k, 1); }},
      problem);
}

template <typename T>
Method<T> v_mean_method() {
  Method<T> method;
  method.name = "v-mean";
  method.summary = "(1/n) 1 1^T V, the mean of the values in every row";
  method.source = "Skeinformer Sec. 5";
  method.random = always(false);
  method.rectangular = method.rowwise = method.rows_sum_to_one = method.exact_on_equal_tokens = always(true);
  method.prepare = [](const Problem<T>& problem, const OptionValues&) -> PreparedMethod<T> {
    const auto n_k = static_cast<double>(problem.n_k()), p_v = static_cast<double>(problem.p_v());
    return {[problem](arma::uword, const Key&) { return v_mean(problem); }, [=](double) { return n_k * p_v; }};
  };
  return method;
}

template Approximation<float> v_mean(const Problem<float>&);
template Approximation<double> v_mean(const Problem<double>&);
template Method<float> v_mean_method();
template Method<double> v_mean_method();

}  // namespace croquis
