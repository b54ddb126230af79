// The coreset of keys: cells of keys that count as one key, repeated.
#pragma once

#include <armadillo>
#include <croquis/attention/kriged/input.hpp>
#include <vector>

namespace croquis {

/// s cells of keys. Cell c stands for its keys as counts(c) keys at their weighted mean, with the mean of their values.
template <typename T>
struct KeyCells {
  std::vector<std::uint32_t> cell;  ///< of every key
  arma::Mat<T> keys;                ///< weighted means, s x p
  arma::Mat<T> sums;                ///< of the centred values, and the counts: s x (p_v + 1)
  arma::Col<T> weights;             ///< of the cells
  arma::Col<T> squares;             ///< sums of |v_j|^2: how much an error at the cell matters

  arma::uword size() const { return keys.n_rows; }
  /// Cells put together: cell c becomes part of cell into[c].
  KeyCells merged(const std::vector<std::uint32_t>& into) const;
};

template <typename T>
KeyCells<T> make_cells(const KrigedInput<T>& input, const arma::Col<T>& weights, const PointTree& tree);

/// exp(r.k_c / sqrt(p) - log_sum_r) of queries whose row sums are known, N x s: at most 1, as the exponential of a mean
/// is at most the mean of exponentials. Cost: 2 N s p flops, N s exponentials.
template <typename T>
arma::Mat<T> cell_weights(const KrigedInput<T>& input, const ExactRows<T>& rows, const KeyCells<T>& cells);

}  // namespace croquis
