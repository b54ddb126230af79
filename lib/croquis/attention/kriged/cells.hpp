// The coreset of keys: cells of keys that count as one key, repeated.
#pragma once

#include <armadillo>
#include <croquis/attention/kriged/input.hpp>
#include <vector>

namespace croquis {

/// s cells of keys. A query attends to cell c as to counts(c) equal keys, at the weighted mean of the cell's keys and
/// with the mean of their values. If the query attends to some of the cell's keys one by one, see TakenKeys.
template <typename T>
struct KeyCells {
  std::vector<std::uint32_t> cell;  ///< the cell of every key
  arma::Mat<T> keys;                ///< weighted means of the keys, s x p
  arma::Mat<T> sums;                ///< sums of the centred values, and as the last column the counts: s x (p_v + 1)
  arma::Col<T> weights;             ///< sums of the keys' weights
  arma::Col<T> squares;             ///< sums of ||v_j||^2: how much an error at the cell matters
  T mean_share = 0;                 ///< of every query's weight, what the mean of all values gets in its place

  arma::uword size() const { return keys.n_rows; }
  /// Fewer cells, of which cell into[c] has the keys of cell c.
  KeyCells merged(const std::vector<std::uint32_t>& into) const;
};

/// The cells that are the leaves of a tree of keys, with these weights of the keys.
template <typename T>
KeyCells<T> make_cells(const KrigedInput<T>& input, const arma::Col<T>& weights, const PointTree& tree);

/// exp(q_r.k_c / sqrt(p) - log_sum_r) for N queries whose row sums are known and s cells, N x s. An entry is at most 1,
/// as the exponential of a mean is at most the mean of exponentials. Cost: 2 N s p flops, N s exponentials.
template <typename T>
arma::Mat<T> cell_weights(const KrigedInput<T>& input, const ExactRows<T>& rows, const KeyCells<T>& cells);

/// The keys that a query takes out of the cells because it attends to them one by one, and the score that a cell then
/// has. The mean score of the keys that are left in cell c is s_c - (sum over the keys taken of s_j - s_c) / (n_c -
/// taken), where s_c is the mean score of all its n_c keys. The cell gets the score half way between s_c and that mean,
/// for two reasons: the keys taken are mostly those with the largest scores, and the exponential of a mean is below the
/// mean of exponentials, so that the mean itself is too low. On trained heads the half had the smallest errors. All
/// this requires that a cell's weighted mean is the mean of its keys, as with equal weights.
template <typename T>
struct TakenKeys {
  /// For every cell, the number of keys taken, and the sum of the differences between their scores and the cell's.
  std::vector<T> counts, above;

  void reset(arma::uword cells) {
    counts.assign(cells, T(0));
    above.assign(cells, T(0));
  }
  void add(arma::uword cell, T score_above) {
    counts[cell] += 1;
    above[cell] += score_above;
  }
  /// The number of keys left in a cell of `keys` keys; 0 if the cell keeps its score, because no key is taken, or
  /// because all are.
  T left(arma::uword cell, T keys) const {
    return counts[cell] > 0 && keys > counts[cell] ? keys - counts[cell] : T(0);
  }
  /// What is added to the score of a cell of `keys` keys.
  T shift(arma::uword cell, T keys) const {
    return left(cell, keys) > 0 ? -kWay * above[cell] / left(cell, keys) : T(0);
  }
  static constexpr T kWay = T(0.5);
};

}  // namespace croquis
