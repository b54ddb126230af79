#include <croquis/attention/column_scores.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/random/indices.hpp>
#include <memory>
#include <utility>

namespace croquis {
namespace {

template <typename T>
arma::Mat<T> times(const ColumnScores<T>& b, const arma::Mat<T>& x) {
  require_rows(x.n_rows, b.n_k, "ColumnScores");
  const arma::Mat<T> selected = x.rows(b.columns);
  arma::Mat<T> y = product_tn(b.weights, selected);
  if (!b.rest.is_empty()) {
    const arma::Row<T> others = column_sums(x) - column_sums(selected);
    parallel_for(y.n_cols, 2 * y.n_rows, [&](std::size_t c) {
      T* column = y.colptr(c);
      for (arma::uword i = 0; i < y.n_rows; ++i) column[i] += b.rest[i] * others[c];
    });
  }
  if (!b.rows.is_empty()) y.rows(b.rows) = product_tn(b.row_scores, x);
  return y;
}

template <typename T>
arma::Mat<T> transposed_times(const ColumnScores<T>& b, arma::Mat<T> x) {
  require_rows(x.n_rows, b.weights.n_cols, "ColumnScores");
  const SerialBlas serial;
  arma::Mat<T> known(b.rows.n_elem, x.n_cols);
  for (arma::uword k = 0; k < b.rows.n_elem; ++k) {
    known.row(k) = x.row(b.rows(k));
    x.row(b.rows(k)).zeros();  // so that a row that stands twice in J adds nothing the second time
  }
  arma::Mat<T> selected = product(b.weights, x);
  arma::Mat<T> y(b.n_k, x.n_cols, arma::fill::zeros);
  if (!b.rest.is_empty()) {
    const arma::Row<T> common = b.rest * x;
    y.each_row() += common;
    selected.each_row() -= common;
  }
  for (arma::uword k = 0; k < b.columns.n_elem; ++k) y.row(b.columns(k)) += selected.row(k);
  if (!b.rows.is_empty()) y += product(b.row_scores, known);
  return y;
}

}  // namespace

template <typename T>
LinearOperator<T> as_operator(ColumnScores<T> scores) {
  const arma::uword n_q = scores.weights.n_cols, n_k = scores.n_k;
  require(scores.weights.n_rows == scores.columns.n_elem && (scores.rest.is_empty() || scores.rest.n_elem == n_q) &&
              scores.row_scores.n_cols == scores.rows.n_elem &&
              (scores.columns.is_empty() || scores.columns.max() < n_k) &&
              (scores.rows.is_empty() || (scores.rows.max() < n_q && scores.row_scores.n_rows == n_k)),
          "ColumnScores", "sizes that agree",
          {{"columns", scores.columns.n_elem}, {"weights.rows", scores.weights.n_rows}, {"rows", scores.rows.n_elem}});
  const auto shared = std::make_shared<const ColumnScores<T>>(std::move(scores));
  return {n_q, n_k, [shared](const arma::Mat<T>& x) { return times(*shared, x); },
          [shared](const arma::Mat<T>& x) { return transposed_times(*shared, x); }};
}

template <typename T>
ColumnScores<T> importance_columns(const arma::Mat<T>& q, const arma::Mat<T>& k, const RowSums<T>& row_sums,
                                   arma::Col<T> weights, arma::uword d, const Key& draw_key) {
  require(weights.n_elem == k.n_rows && row_sums.maxima.n_elem == q.n_rows && row_sums.sums.n_elem == q.n_rows,
          "importance_columns", "a weight for each key, and a row sum for each query",
          {{"weights", weights.n_elem}, {"keys", k.n_rows}, {"row sums", row_sums.sums.n_elem}, {"queries", q.n_rows}});
  if (weights.max() == T(0)) weights.ones();
  weights /= weights.max();  // their sum could overflow
  weights /= arma::accu(weights);
  ColumnScores<T> scores;
  scores.n_k = k.n_rows;
  scores.columns = sample_weighted(weights, d, draw_key);
  scores.weights = scores_transposed<T>(q, k.rows(scores.columns));
  exponentiate(scores.weights, row_sums);
  scores.weights.each_col() /= static_cast<T>(d) * weights(scores.columns);
  return scores;
}

template <typename T>
void exponentiate(arma::Mat<T>& scores, const RowSums<T>& row_sums) {
  for (arma::uword i = 0; i < scores.n_cols; ++i) {
    T* column = scores.colptr(i);
    // No weight is above 1, but these scores have not the rounding of those that were summed.
    for (arma::uword k = 0; k < scores.n_rows; ++k) column[k] = std::min(column[k] - row_sums.maxima(i), T(0));
    exp_shifted(column, scores.n_rows, T(0));
    scores.col(i) /= row_sums.sums(i);
  }
}

template LinearOperator<float> as_operator(ColumnScores<float>);
template LinearOperator<double> as_operator(ColumnScores<double>);
template ColumnScores<float> importance_columns(const arma::Mat<float>&, const arma::Mat<float>&, const RowSums<float>&,
                                                arma::Col<float>, arma::uword, const Key&);
template ColumnScores<double> importance_columns(const arma::Mat<double>&, const arma::Mat<double>&,
                                                 const RowSums<double>&, arma::Col<double>, arma::uword, const Key&);
template void exponentiate(arma::Mat<float>&, const RowSums<float>&);
template void exponentiate(arma::Mat<double>&, const RowSums<double>&);

}  // namespace croquis
