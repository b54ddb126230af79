#include <croquis/attention/v_mean.hpp>

namespace croquis {

template <typename T>
Approximation<T> v_mean(const Problem<T>& problem) {
  const auto mean = [](const arma::Mat<T>& x) -> arma::Mat<T> { return arma::repmat(arma::mean(x, 0), x.n_rows, 1); };
  return from_scores<T>({problem.n(), problem.n(), mean, mean}, problem);
}

template <typename T>
Method<T> v_mean_method() {
  Method<T> method;
  method.name = "v-mean";
  method.summary = "(1/n) 1 1^T V, the mean of the values in every row";
  method.source = "Skeinformer Sec. 5";
  method.random = [](const OptionValues&) { return false; };
  method.bind = [](const Problem<T>& problem, const OptionValues&) -> BoundMethod<T> {
    const auto n = static_cast<double>(problem.n()), p_v = static_cast<double>(problem.p_v());
    return {[problem](arma::uword, const Key&) { return v_mean(problem); }, [=](double) { return n * p_v; }};
  };
  return method;
}

template Approximation<float> v_mean(const Problem<float>&);
template Approximation<double> v_mean(const Problem<double>&);
template Method<float> v_mean_method();
template Method<double> v_mean_method();

}  // namespace croquis
