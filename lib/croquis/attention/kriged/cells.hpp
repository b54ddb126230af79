// The coreset of keys: cells of keys that count as one key, repeated.
#pragma once

#include <armadillo>
#include <croquis/attention/kriged/input.hpp>
#include <vector>

namespace croquis {

/// s cells of keys. Cell c stands for its keys as counts(c) keys at their weighted mean, with the mean of their values;
/// where a query attends to some of them one by one, as TakenKeys says.
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

/// What a query takes out of the cells when it attends to some keys one by one, and the score at which a cell then
/// counts: half way from the mean s_c of all its keys to the mean of those that are left, s_c - (sum over the keys
/// taken of s_j - s_c) / (n_c - taken). The keys that are taken are mostly those with the largest scores, so that the
/// whole way is too low, as the exponential of a mean is below the mean of exponentials. On trained heads the half had
/// the smallest errors. For cells whose weighted mean is that of their keys, as with equal weights.
template <typename T>
struct TakenKeys {
  std::vector<T> counts, above;  ///< of every cell: keys taken, and the sum of what their scores are above the cell's

  void reset(arma::uword cells) {
    counts.assign(cells, T(0));
    above.assign(cells, T(0));
  }
  void add(arma::uword cell, T score_above) {
    counts[cell] += 1;
    above[cell] += score_above;
  }
  /// Of a cell with so many keys; 0 where the cell stays as it is, since nothing is taken, or nothing is left that its
  /// score could matter to.
  T left(arma::uword cell, T keys) const {
    return counts[cell] > 0 && keys > counts[cell] ? keys - counts[cell] : T(0);
  }
  T shift(arma::uword cell, T keys) const {
    return left(cell, keys) > 0 ? -kWay * above[cell] / left(cell, keys) : T(0);
  }
  static constexpr T kWay = T(0.5);
};

}  // namespace croquis
