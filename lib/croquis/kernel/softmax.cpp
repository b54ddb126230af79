#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/kernel/softmax_scores.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <limits>

namespace croquis {
namespace {

template <typename T>
void require_one_width(const arma::Mat<T>& q, const arma::Mat<T>& k) {
  require(q.n_cols == k.n_cols && q.n_cols > 0, "scores", "queries and keys of one width",
          {{"q.cols", q.n_cols}, {"k.cols", k.n_cols}});
}

}  // namespace

template <typename T>
arma::Mat<T> scores_transposed(const arma::Mat<T>& q, const arma::Mat<T>& k) {
  require_one_width(q, k);
  const T scale = 1 / std::sqrt(static_cast<T>(q.n_cols));
  return k.n_rows <= q.n_rows ? product_nt<T>(scale * k, q) : product_nt<T>(k, scale * q);
}

template <typename T>
RowSums<T> softmax_columns(arma::Mat<T>& scores) {
  require(scores.n_rows > 0, "softmax_columns", "at least one score a column");
  RowSums<T> row_sums{arma::Col<T>(scores.n_cols), arma::Col<T>(scores.n_cols)};
  parallel_for(scores.n_cols, 2 * scores.n_rows, [&](std::size_t j) {
    T* column = scores.colptr(j);
    const T top = maximum(column, scores.n_rows);
    const T sum = exp_shifted(column, scores.n_rows, top);
    const T share = 1 / sum;
    for (arma::uword i = 0; i < scores.n_rows; ++i) column[i] *= share;
    row_sums.maxima(j) = top;
    row_sums.sums(j) = sum;
  });
  return row_sums;
}

template <typename T>
arma::Mat<T> softmax_transposed(const arma::Mat<T>& q, const arma::Mat<T>& k) {
  arma::Mat<T> scores = scores_transposed(q, k);
  softmax_columns(scores);
  return scores;
}

template <typename T>
arma::Mat<T> softmax_product(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& x,
                             const StreamedExtra<T>& extra, const arma::Col<T>& log_weights) {
  require_one_width(q, k);
  require(k.n_rows == x.n_rows && k.n_rows > 0, "softmax_product", "a row of X for every key, one at least",
          {{"k.rows", k.n_rows}, {"x.rows", x.n_rows}});
  require(log_weights.is_empty() || log_weights.n_elem == k.n_rows, "softmax_product", "a weight for every key",
          {{"k.rows", k.n_rows}, {"log_weights", log_weights.n_elem}});
  constexpr T infinite = std::numeric_limits<T>::infinity();
  const auto all_of = [&](auto holds) { return std::all_of(log_weights.begin(), log_weights.end(), holds); };
  require(all_of([](T l) { return l < infinite; }) &&
              (log_weights.is_empty() || !all_of([](T l) { return l == -infinite; })),
          "softmax_product", "logarithms of weights that are numbers or -inf, and one of them a number");
  return streamed_product<T>(SoftmaxScores<T>{q, k, log_weights}, x, extra);
}

template arma::Mat<float> scores_transposed(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> scores_transposed(const arma::Mat<double>&, const arma::Mat<double>&);
template RowSums<float> softmax_columns(arma::Mat<float>&);
template RowSums<double> softmax_columns(arma::Mat<double>&);
template arma::Mat<float> softmax_transposed(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> softmax_transposed(const arma::Mat<double>&, const arma::Mat<double>&);
template arma::Mat<float> softmax_product(const arma::Mat<float>&, const arma::Mat<float>&, const arma::Mat<float>&,
                                          const StreamedExtra<float>&, const arma::Col<float>&);
template arma::Mat<double> softmax_product(const arma::Mat<double>&, const arma::Mat<double>&, const arma::Mat<double>&,
                                           const StreamedExtra<double>&, const arma::Col<double>&);

}  // namespace croquis
