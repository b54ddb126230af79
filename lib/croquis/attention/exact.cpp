#include <croquis/attention/exact.hpp>
#include <croquis/attention/exact_products.hpp>
#include <croquis/attention/exact_tokens.hpp>
#include <croquis/core/require.hpp>
#include <memory>

namespace croquis {

template <typename T>
ExactAttention<T> exact_attention(const Problem<T>& problem, Target target) {
  return attend<T>(ExactTokens<T>(problem, target), problem.V());
}

template <typename T>
ExactAttention<T> exact_attention_rows(const Problem<T>& problem, Target target, const arma::uvec& rows) {
  require(!rows.is_empty() && rows.is_sorted("strictascend") && rows.back() < problem.n_q(), "exact_attention_rows",
          "rows ascend, each once, below n_q", {{"rows", rows.n_elem}, {"n_q", problem.n_q()}});
  return attend<T>(ExactTokens<T>(problem, target, rows), problem.V());
}

template <typename T>
LinearOperator<T> exact_scores(const Problem<T>& problem, Target target) {
  return score_operator<T>(std::make_shared<const ExactTokens<T>>(problem, target), is_normalised(target));
}

template <typename T>
arma::Mat<T> exact_transposed_product(const Problem<T>& problem, Target target, const RowSums<T>& row_sums,
                                      const arma::Mat<T>& x) {
  const arma::uword n_q = problem.n_q();
  const bool fits = !is_normalised(target) || (row_sums.maxima.n_elem == n_q && row_sums.sums.n_elem == n_q);
  require(
      fits && x.n_rows == n_q, "exact_transposed_product", "a row sum and a row of X for every query",
      {{"n_q", n_q}, {"row maxima", row_sums.maxima.n_elem}, {"row sums", row_sums.sums.n_elem}, {"x.rows", x.n_rows}});
  return attend_transposed<T>(ExactTokens<T>(problem, target), x,
                              is_normalised(target) ? row_sums : no_row_sums<T>(n_q));
}

template ExactAttention<float> exact_attention(const Problem<float>&, Target);
template ExactAttention<double> exact_attention(const Problem<double>&, Target);
template ExactAttention<float> exact_attention_rows(const Problem<float>&, Target, const arma::uvec&);
template ExactAttention<double> exact_attention_rows(const Problem<double>&, Target, const arma::uvec&);
template LinearOperator<float> exact_scores(const Problem<float>&, Target);
template LinearOperator<double> exact_scores(const Problem<double>&, Target);
template arma::Mat<float> exact_transposed_product(const Problem<float>&, Target, const RowSums<float>&,
                                                   const arma::Mat<float>&);
template arma::Mat<double> exact_transposed_product(const Problem<double>&, Target, const RowSums<double>&,
                                                    const arma::Mat<double>&);

}  // namespace croquis
