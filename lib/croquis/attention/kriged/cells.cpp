#include <algorithm>
#include <croquis/attention/kriged/cells.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/linalg/row_math.hpp>

namespace croquis {
namespace {

template <typename T>
arma::Mat<T> sums_into(const arma::Mat<T>& x, const std::vector<std::uint32_t>& into, arma::uword count) {
  arma::Mat<T> sums(count, x.n_cols, arma::fill::zeros);
  for (arma::uword c = 0; c < x.n_cols; ++c) {
    for (arma::uword i = 0; i < x.n_rows; ++i) sums.at(into[i], c) += x.at(i, c);
  }
  return sums;
}

}  // namespace

template <typename T>
KeyCells<T> KeyCells<T>::merged(const std::vector<std::uint32_t>& into) const {
  const arma::uword count = *std::max_element(into.begin(), into.end()) + 1;
  KeyCells<T> cells;
  cells.cell = cell;
  for (std::uint32_t& c : cells.cell) c = into[c];
  cells.keys = sums_into<T>(keys.each_col() % weights, into, count);
  cells.sums = sums_into(sums, into, count);
  cells.weights = sums_into<T>(weights, into, count);
  cells.squares = sums_into<T>(squares, into, count);
  cells.keys.each_col() /= cells.weights;
  return cells;
}

template <typename T>
KeyCells<T> make_cells(const KrigedInput<T>& input, const arma::Col<T>& weights, const PointTree& tree) {
  const SerialBlas serial;
  KeyCells<T> cells;
  cells.cell = tree.leaf;
  cells.keys = leaf_means(input.keys, weights, tree);
  cells.sums = leaf_sums(input.value_columns, tree);
  cells.weights = leaf_sums<T>(weights.t(), tree);
  cells.squares = leaf_sums<T>(arma::square(input.value_norms).t(), tree);
  return cells;
}

template <typename T>
arma::Mat<T> cell_weights(const KrigedInput<T>& input, const ExactRows<T>& rows, const KeyCells<T>& cells) {
  const SerialBlas serial;
  arma::Mat<T> weights = product_nt<T>(input.scale * rows.queries, cells.keys);
  // At most 1, also of equal keys that are long: their mean is off by so much rounding that its logit may be far above
  // the others'.
  const arma::uword n = weights.n_rows, at_once = 64;
  parallel_for(blocks_of(weights.n_cols, at_once), at_once * n, [&](std::size_t b) {
    const arma::uword first = b * at_once;
    arma::Col<T> sums(n, arma::fill::zeros);
    exp_shifted_rows(weights.colptr(first), n, std::min(at_once, weights.n_cols - first), rows.log_sums.memptr(),
                     sums.memptr());
  });
  return weights;
}

template struct KeyCells<float>;
template struct KeyCells<double>;
template KeyCells<float> make_cells(const KrigedInput<float>&, const arma::Col<float>&, const PointTree&);
template KeyCells<double> make_cells(const KrigedInput<double>&, const arma::Col<double>&, const PointTree&);
template arma::Mat<float> cell_weights(const KrigedInput<float>&, const ExactRows<float>&, const KeyCells<float>&);
template arma::Mat<double> cell_weights(const KrigedInput<double>&, const ExactRows<double>&, const KeyCells<double>&);

}  // namespace croquis
