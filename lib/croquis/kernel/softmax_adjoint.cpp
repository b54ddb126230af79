#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/kernel/softmax_adjoint.hpp>
#include <croquis/kernel/softmax_scores.hpp>
#include <croquis/kernel/streamed_adjoint.hpp>
#include <croquis/linalg/rows.hpp>
#include <utility>

namespace croquis {

template <typename T>
SoftmaxAdjoint<T> softmax_adjoint(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& x,
                                  const arma::Mat<T>& cotangent, const arma::Col<T>& log_weights) {
  const SerialBlas serial;
  RowSums<T> row_sums;
  const arma::Mat<T> y =
      softmax_product<T>(q, k, x, {.row_maxima = &row_sums.maxima, .sums = &row_sums.sums}, log_weights);
  const arma::Col<T> delta = row_products(cotangent, y);
  StreamedAdjoint<T> d =
      streamed_adjoint<T>(SoftmaxScores<T>{q, k, log_weights}, {x, cotangent, row_sums, delta, q, k});
  const T scale = 1 / std::sqrt(static_cast<T>(q.n_cols));
  return {scale * d.left, scale * d.right, std::move(d.x)};
}

template <typename T>
arma::Mat<T> softmax_rows_adjoint(const arma::Mat<T>& weights, const arma::Mat<T>& cotangent) {
  const SerialBlas serial;
  require(
      arma::size(weights) == arma::size(cotangent), "softmax_rows_adjoint", "a cotangent of the size of P",
      {{"rows", cotangent.n_rows}, {"cols", cotangent.n_cols}, {"P.rows", weights.n_rows}, {"P.cols", weights.n_cols}});
  arma::Mat<T> scores = weights % cotangent;
  const arma::Col<T> sums = arma::sum(scores, 1);
  scores -= weights.each_col() % sums;
  return scores;
}

template SoftmaxAdjoint<float> softmax_adjoint(const arma::Mat<float>&, const arma::Mat<float>&,
                                               const arma::Mat<float>&, const arma::Mat<float>&,
                                               const arma::Col<float>&);
template SoftmaxAdjoint<double> softmax_adjoint(const arma::Mat<double>&, const arma::Mat<double>&,
                                                const arma::Mat<double>&, const arma::Mat<double>&,
                                                const arma::Col<double>&);
template arma::Mat<float> softmax_rows_adjoint(const arma::Mat<float>&, const arma::Mat<float>&);
template arma::Mat<double> softmax_rows_adjoint(const arma::Mat<double>&, const arma::Mat<double>&);

}  // namespace croquis
