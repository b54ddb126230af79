#include <algorithm>
#include <croquis/attention/gradient.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <utility>

namespace croquis {

template <typename T>
Adjoint<T> adjoint_of(const Problem<T>& problem, Adjoint<T> gradient) {
  return [problem, gradient = std::move(gradient)](const arma::Mat<T>& cotangent) {
    require(cotangent.n_rows == problem.n_q() && cotangent.n_cols == problem.p_v(), "adjoint",
            "a cotangent with the shape of the output, n_q x p_v",
            {{"rows", cotangent.n_rows}, {"cols", cotangent.n_cols}, {"n_q", problem.n_q()}, {"p_v", problem.p_v()}});
    const SerialBlas serial;
    Gradient<T> result = gradient(cotangent);
    if (result.q.is_empty()) result.q.zeros(problem.n_q(), problem.p());
    if (result.k.is_empty()) result.k.zeros(problem.n_k(), problem.p());
    if (result.v.is_empty()) result.v.zeros(problem.n_k(), problem.p_v());
    if (result.bias.is_empty()) result.bias.zeros(problem.position().bias.n_elem);
    return result;
  };
}

template <typename T>
Gradient<T> with_padding(Gradient<T> gradient, arma::uword n_q, arma::uword n_k) {
  require(n_q >= gradient.q.n_rows && n_k >= gradient.k.n_rows, "with_padding",
          "at least as many queries and keys as without",
          {{"n_q", n_q}, {"n_k", n_k}, {"q.rows", gradient.q.n_rows}, {"k.rows", gradient.k.n_rows}});
  const arma::uword before = std::max(gradient.q.n_rows, gradient.k.n_rows), after = std::max(n_q, n_k);
  gradient.q.resize(n_q, gradient.q.n_cols);  // new entries are zero
  gradient.k.resize(n_k, gradient.k.n_cols);
  gradient.v.resize(n_k, gradient.v.n_cols);
  if (!gradient.bias.is_empty() && after > before) {
    require(gradient.bias.n_elem == 2 * before - 1, "with_padding", "a bias of one dimension",
            {{"entries", gradient.bias.n_elem}, {"tokens", before}});
    arma::Col<T> bias(2 * after - 1, arma::fill::zeros);
    bias.subvec(after - before, after + before - 2) = gradient.bias;
    gradient.bias = std::move(bias);
  }
  return gradient;
}

template Adjoint<float> adjoint_of(const Problem<float>&, Adjoint<float>);
template Adjoint<double> adjoint_of(const Problem<double>&, Adjoint<double>);
template Gradient<float> with_padding(Gradient<float>, arma::uword, arma::uword);
template Gradient<double> with_padding(Gradient<double>, arma::uword, arma::uword);

}  // namespace croquis
