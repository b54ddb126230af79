#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/vector_math.hpp>

namespace croquis {

template <typename T>
arma::Mat<T> scores_transposed(const arma::Mat<T>& q, const arma::Mat<T>& k) {
  require(q.n_cols == k.n_cols && q.n_cols > 0, "scores", "queries and keys of one width",
          {{"q.cols", q.n_cols}, {"k.cols", k.n_cols}});
  const T scale = 1 / std::sqrt(static_cast<T>(q.n_cols));
  return k.n_rows <= q.n_rows ? product_nt<T>(scale * k, q) : product_nt<T>(k, scale * q);
}

template <typename T>
arma::Col<T> softmax_columns(arma::Mat<T>& scores) {
  require(scores.n_rows > 0, "softmax_columns", "at least one score a column");
  arma::Col<T> log_sums(scores.n_cols);
  parallel_for(scores.n_cols, 2 * scores.n_rows, [&](std::size_t j) {
    T* column = scores.colptr(j);
    const T top = maximum(column, scores.n_rows);
    const T sum = exp_shifted(column, scores.n_rows, top);
    const T share = 1 / sum;
    for (arma::uword i = 0; i < scores.n_rows; ++i) column[i] *= share;
    log_sums(j) = top + std::log(sum);
  });
  return log_sums;
}

template <typename T>
arma::Mat<T> softmax_transposed(const arma::Mat<T>& q, const arma::Mat<T>& k) {
  arma::Mat<T> scores = scores_transposed(q, k);
  softmax_columns(scores);
  return scores;
}

template arma::Mat<float> scores_transposed(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> scores_transposed(const arma::Mat<double>&, const arma::Mat<double>&);
template arma::Col<float> softmax_columns(arma::Mat<float>&);
template arma::Col<double> softmax_columns(arma::Mat<double>&);
template arma::Mat<float> softmax_transposed(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> softmax_transposed(const arma::Mat<double>&, const arma::Mat<double>&);

}  // namespace croquis
