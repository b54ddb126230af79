#include <cmath>
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/attention/exact_tokens.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/point_differences.hpp>
#include <croquis/kernel/streamed_adjoint.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/transpose.hpp>
#include <utility>
#include <vector>

namespace croquis {
namespace {

// The scores of exact attention for streamed_adjoint(), which add the cotangents of equal differences of tokens up.
template <typename T>
struct AdjointScores {
  const ExactTokens<T>& tokens;
  std::vector<arma::Col<T>>& bias;  // of each group; empty where the bias does not count

  arma::uword rows() const { return tokens.rows(); }
  arma::uword cols() const { return tokens.cols(); }
  void fill(arma::uword i0, arma::uword j0, arma::Mat<T>& block) const { tokens.fill(i0, j0, block); }
  arma::uword seen(arma::uword last_query, arma::uword j0, arma::uword count) const {
    return tokens.seen(last_query, j0, count);
  }

  void add_cotangent(arma::uword group, arma::uword i0, arma::uword j0, const arma::Mat<T>& block) const {
    if (bias.empty()) return;
    T* sums = bias[group].memptr();
    arma::uvec origins(block.n_rows);
    for (arma::uword i = 0; i < origins.n_elem; ++i) {
      origins[i] = tokens.grid.centre() - tokens.grid.place(tokens.token(i0 + i));
    }
    for (arma::uword j = 0; j < block.n_cols; ++j) {
      T* from_key = sums + tokens.grid.place(tokens.tokens.key(j0 + j));
      const T* column = block.colptr(j);
      for (arma::uword i = 0; i < block.n_rows; ++i) from_key[origins[i]] += column[i];
    }
  }
};

}  // namespace

template <typename T>
Gradient<T> exact_gradient(const Problem<T>& problem, Target target, const ExactAttention<T>& exact,
                           const arma::Mat<T>& cotangent) {
  require(arma::size(cotangent) == arma::size(problem.n_q(), problem.p_v()) &&
              arma::size(exact.output) == arma::size(cotangent) && exact.row_sums.maxima.n_elem == problem.n_q() &&
              exact.row_sums.sums.n_elem == problem.n_q(),
          "exact_gradient", "a cotangent and an exact output of n_q x p_v",
          {{"rows", cotangent.n_rows}, {"cols", cotangent.n_cols}, {"n_q", problem.n_q()}, {"p_v", problem.p_v()}});
  const SerialBlas serial;
  const ExactTokens<T> tokens(problem, target);
  const arma::uword p = problem.p();
  const bool kernelized = target == Target::kernelized;
  const arma::Col<T> delta =
      kernelized ? arma::Col<T>(problem.n_q(), arma::fill::zeros) : row_products(cotangent, exact.output);
  const T scale = std::pow(static_cast<T>(p), T(-0.25));
  arma::Mat<T> q, k;
  if (kernelized) {
    const arma::Row<T> middle = middle_of(problem.Q(), problem.K());
    q = points_and_ones(problem.Q(), middle, scale);
    k = points_and_ones(problem.K(), middle, scale);
  } else {
    q = tokens.q.head_cols(p);
    k = transposed<T>(tokens.k.head_rows(p));
  }
  std::vector<arma::Col<T>> bias;
  if (tokens.has_bias) bias.assign(kAdjointGroups, arma::Col<T>(tokens.grid.size(), arma::fill::zeros));
  StreamedAdjoint<T> d = streamed_adjoint<T>(
      AdjointScores<T>{tokens, bias},
      {problem.V(), cotangent, kernelized ? no_row_sums<T>(problem.n_q()) : exact.row_sums, delta, q, k});
  Gradient<T> gradient{std::move(d.left), std::move(d.right), std::move(d.x), {}};
  if (kernelized) {
    gradient.q = towards(gradient.q, q, scale);
    gradient.k = towards(gradient.k, k, scale);
  } else if (has_unit_rows(target)) {
    gradient.q = unit_rows_adjoint(problem.Q(), gradient.q);
    gradient.k = unit_rows_adjoint(problem.K(), gradient.k);
  } else {
    gradient.q *= scale;
    gradient.k *= scale;
  }
  gradient.bias.zeros(problem.position().bias.n_elem);
  for (const arma::Col<T>& sums : bias) gradient.bias += sums;
  return gradient;
}

template <typename T>
Adjoint<T> exact_adjoint(const Problem<T>& problem, Target target) {
  return adjoint_of<T>(problem, [problem, target](const arma::Mat<T>& cotangent) {
    return exact_gradient(problem, target, exact_attention(problem, target), cotangent);
  });
}

template Gradient<float> exact_gradient(const Problem<float>&, Target, const ExactAttention<float>&,
                                        const arma::Mat<float>&);
template Gradient<double> exact_gradient(const Problem<double>&, Target, const ExactAttention<double>&,
                                         const arma::Mat<double>&);
template Adjoint<float> exact_adjoint(const Problem<float>&, Target);
template Adjoint<double> exact_adjoint(const Problem<double>&, Target);

}  // namespace croquis
