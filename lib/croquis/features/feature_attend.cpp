// FeaturePair::attend: products with features that are computed in blocks.
#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/kernel/streamed_product.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/row_math.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/vector_math.hpp>

namespace croquis {
namespace {

// Rows are features r, columns are tokens j, with exponents slope_r w_r.y_j + offset_r + log_prefactor_j. FAVOR+'s
// shift of all keys ignores the log-prefactors, so the largest exponent without them is needed too.
template <typename T>
struct KeyExponents {
  const arma::Mat<T>&directions, &points;  // W; n' x p
  const arma::Row<T>&slopes, &offsets;
  const arma::Col<T>& log_prefactors;
  bool straight;          // slopes 1, offsets 0
  arma::Mat<T>* largest;  // largest exponent of each block without log_prefactors; or nullptr

  arma::uword rows() const { return directions.n_rows; }
  arma::uword cols() const { return points.n_rows; }
  RowScale row_scale() const { return RowScale::by_largest; }
  void fill(arma::uword i0, arma::uword j0, arma::Mat<T>& block) const {
    product_nt_block(T(1), directions, i0, points, j0, block);
    if (!straight) {
      for (arma::uword j = 0; j < block.n_cols; ++j) {
        T* column = block.colptr(j);
        for (arma::uword i = 0; i < block.n_rows; ++i) column[i] = slopes[i0 + i] * column[i] + offsets[i0 + i];
      }
    }
    if (largest) (*largest)(j0 / kStreamedCols, i0 / kStreamedRows) = maximum(block.memptr(), block.n_elem);
    for (arma::uword j = 0; j < block.n_cols; ++j) block.col(j) += log_prefactors[j0 + j];
  }
};

// Rows are tokens i, columns are features r, with exponents slope_r w_r.x_i + offset_r. The offset includes the factors
// that the queries take over from the keys.
template <typename T>
struct QueryExponents {
  const arma::Mat<T>&directions, &points;  // W; n x p
  const arma::Row<T>&slopes, &offsets;
  const arma::Col<T>& log_prefactors;
  const arma::Row<T>& total;  // added to every query by epsilon; or empty

  arma::uword rows() const { return points.n_rows; }
  arma::uword cols() const { return directions.n_rows; }
  RowScale row_scale() const { return RowScale::by_largest; }
  void fill(arma::uword i0, arma::uword j0, arma::Mat<T>& block) const {
    product_nt_block(T(1), points, i0, directions, j0, block);
    for (arma::uword j = 0; j < block.n_cols; ++j) {
      const T slope = slopes[j0 + j], offset = offsets[j0 + j];
      T* column = block.colptr(j);
      for (arma::uword i = 0; i < block.n_rows; ++i) column[i] = slope * column[i] + offset;
    }
  }
  // Divides the numerators by the denominators, which are in the last column.
  void finish(arma::uword i0, arma::Mat<T>& sums) const {
    const arma::uword width = sums.n_cols - 1, count = sums.n_rows;
    arma::Col<T> size(count, arma::fill::ones);
    T* denominator = sums.colptr(width);
    if (!total.is_empty()) {
      size = log_prefactors.rows(i0, i0 + count - 1);
      exp_shifted(size.memptr(), count, T(0));
      for (arma::uword i = 0; i < count; ++i) denominator[i] = size[i] * denominator[i] + total[width];
    }
    const arma::Col<T> share = 1 / sums.col(width);
    size %= share;
    scale_rows(sums.memptr(), count, width, size.memptr(), share.memptr(), total.is_empty() ? nullptr : total.memptr(),
               sums.memptr(), count);
  }
};

}  // namespace

template <typename T>
typename FeaturePair<T>::Attended FeaturePair<T>::attend_streamed(const arma::Mat<T>& x) const {
  const arma::uword m = directions(), tokens = y_->n_rows, width = x.n_cols;
  const T epsilon = static_cast<T>(options_.epsilon), factor = static_cast<T>(log_factor_);
  const arma::Mat<T> directions = projection_.columns().t();
  arma::Mat<T> largest(blocks_of(tokens, kStreamedCols), streamed_row_blocks(m));
  arma::Col<T> shifts, sums;
  arma::Mat<T> a =
      streamed_product<T>(KeyExponents<T>{directions, *y_, slopes_, offsets_, y_log_prefactors_,
                                          options_.map == FeatureMap::prf, epsilon > 0 ? &largest : nullptr},
                          x, {.row_maxima = &shifts, .sums = &sums});
  a.insert_cols(width, sums);  // X's next column is 1
  arma::Row<T> offsets = offsets_;
  T shift = 0;
  if (epsilon == 0) {
    offsets += shifts.t();
  } else {
    // One shift for all keys, so that epsilon is relative to 1 in all columns.
    shift = largest.max();
    multiply_rows<T>(a, arma::exp(shifts - shift));
    a.each_row() += epsilon * arma::join_rows(column_sums(x), arma::Row<T>{static_cast<T>(tokens)});
  }
  arma::Row<T> total;
  if (epsilon > 0) total = epsilon * column_sums(a);  // epsilon is in every feature of a query
  Attended attended;
  arma::Col<T> row_maxima;
  attended.output = streamed_product<T>(QueryExponents<T>{directions, *x_, slopes_, offsets, x_log_prefactors_, total},
                                        a, {.row_maxima = &row_maxima, .last = &attended.sums});
  attended.log_scale = row_maxima + (shift + factor);
  if (epsilon == 0) attended.log_scale += x_log_prefactors_;
  return attended;
}

// body(tokens, directions, columns): the columns of all features that belong to these directions.
template <typename T>
template <typename Body>
void FeaturePair<T>::for_blocks(arma::uword tokens, const Body& body) const {
  constexpr arma::uword rows_at_once = 2048, directions_at_once = 64;
  for (arma::uword i = 0; i < tokens; i += rows_at_once) {
    const arma::uvec rows = arma::regspace<arma::uvec>(i, std::min(tokens, i + rows_at_once) - 1);
    for (arma::uword r = 0; r < directions(); r += directions_at_once) {
      const arma::span block(r, std::min(r + directions_at_once, directions()) - 1);
      arma::uvec columns = arma::regspace<arma::uvec>(block.a, block.b);
      if (functions_ == 2) columns = arma::join_cols(columns, columns + directions());
      body(rows, block, columns);
    }
  }
}

template <typename T>
arma::Mat<T> FeaturePair<T>::key_sums(const arma::Mat<T>& x, const Shifts& shifts) const {
  const SerialBlas serial;
  require(x.n_rows == y_->n_rows, "features", "a row of X for every key", {{"rows", x.n_rows}, {"keys", y_->n_rows}});
  const arma::Mat<T> values = arma::join_rows(x, arma::Mat<T>(x.n_rows, 1, arma::fill::ones));
  arma::Mat<T> sums(count(), values.n_cols, arma::fill::zeros);
  for_blocks(y_->n_rows, [&](const arma::uvec& tokens, arma::span directions, const arma::uvec& columns) {
    sums.rows(columns) += keys(tokens, directions, shifts).t() * values.rows(tokens.front(), tokens.back());
  });
  return sums;
}

template <typename T>
typename FeaturePair<T>::Attended FeaturePair<T>::attend_sums(const arma::Mat<T>& sums, const Shifts& shifts) const {
  const SerialBlas serial;
  require(sums.n_rows == count() && sums.n_cols >= 1, "features", "sums of every feature",
          {{"rows", sums.n_rows}, {"features", count()}});
  arma::Mat<T> products(x_->n_rows, sums.n_cols, arma::fill::zeros);
  for_blocks(x_->n_rows, [&](const arma::uvec& tokens, arma::span directions, const arma::uvec& columns) {
    products.rows(tokens.front(), tokens.back()) += queries(tokens, directions, shifts) * sums.rows(columns);
  });
  Attended attended{products.head_cols(sums.n_cols - 1), products.tail_cols(1), shifts.log_scale};
  divide_rows(attended.output, attended.sums);
  return attended;
}

template <typename T>
typename FeaturePair<T>::Attended FeaturePair<T>::attend(const arma::Mat<T>& x) const {
  require(x.n_rows == y_->n_rows, "features", "a row of X for every key", {{"rows", x.n_rows}, {"keys", y_->n_rows}});
  if (functions_ == 1 && !projection_.columns().is_empty()) return attend_streamed(x);
  Matrices phi = matrices();
  Attended attended;
  attended.sums = product<T>(phi.queries, column_sums(phi.keys).t());
  attended.output = product(phi.queries, product_tn(phi.keys, x));
  divide_rows(attended.output, attended.sums);
  attended.log_scale = std::move(phi.log_scale);
  return attended;
}

template FeaturePair<float>::Attended FeaturePair<float>::attend(const arma::Mat<float>&) const;
template FeaturePair<double>::Attended FeaturePair<double>::attend(const arma::Mat<double>&) const;
template arma::Mat<float> FeaturePair<float>::key_sums(const arma::Mat<float>&, const Shifts&) const;
template arma::Mat<double> FeaturePair<double>::key_sums(const arma::Mat<double>&, const Shifts&) const;
template FeaturePair<float>::Attended FeaturePair<float>::attend_sums(const arma::Mat<float>&, const Shifts&) const;
template FeaturePair<double>::Attended FeaturePair<double>::attend_sums(const arma::Mat<double>&, const Shifts&) const;

}  // namespace croquis
