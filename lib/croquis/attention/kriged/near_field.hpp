// Keys that are not left to the cells: lists for each query leaf, and offsets from the query.
#pragma once

#include <croquis/attention/kriged/cells.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// The keys that a query attends to by itself and not by their cells. Query i of leaf g: those of lists[g], and key
/// token(i) + o for every offset o, where there is one that is not in the list.
struct NearField {
  std::vector<std::vector<std::uint32_t>> lists = {};  ///< ascending; none, or one for every leaf of the query tree
  std::vector<std::int64_t> offsets = {};              ///< ascending
  arma::uword opened = 0;                              ///< keys of the cells that may matter most to the query

  bool by_query() const { return !offsets.empty() || opened > 0; }
  bool lists_key(arma::uword leaf, std::uint32_t key) const;
};

/// The keys whose exact weights differ most from those of their cells, ascending: the `count` largest
/// sum_r |b_rj - y_r,c(j)| |v_j| over some exact rows r, of several rows without the largest term, so that a key has to
/// matter to two of them. y: weights of the cells. Ties: the first key.
template <typename T>
std::vector<std::uint32_t> near_keys(const KrigedInput<T>& input, const ExactRows<T>& rows,
                                     const std::vector<arma::uword>& which, const KeyCells<T>& cells,
                                     const arma::Mat<T>& cell_weights, arma::uword count);

/// Which cells a query opens, to attend to their keys one by one: those with the largest bounds on their keys' scores,
///   score of the mean + 2.5 |q| rms distance of the keys from their mean / p,
/// two and a half standard deviations where distances are spread evenly over the p directions.
template <typename T>
class OpenedCells {
 public:
  OpenedCells(const KrigedInput<T>& input, const KeyCells<T>& cells);

  /// bounds[c] for the scores of the cells, `stride` apart, of a query of this length; -infinity for a cell of one key.
  void bounds_of(const T* scores, arma::uword stride, T length, std::vector<T>& bounds) const;
  /// Appends the keys of the cells with the largest bounds, at most `count`; of 16 cells at most. A cell that is opened
  /// gets the bound +infinity.
  void open(std::vector<T>& bounds, arma::uword count, std::vector<std::uint32_t>& keys) const;

 private:
  std::vector<std::uint32_t> members_;  // of the cells, one after the other
  std::vector<arma::uword> first_;
  std::vector<T> deviations_;
};

/// How much of the rows of some queries lies at each offset and not in their cells: entry o + n - 1 (n tokens) is the
/// sum over the queries of min(|b_ij - y_i,c(j)| |v_j|, a quarter of that query's sum), j = i + o, smoothed by
/// (1/2, 1, 1/2) and half the sum over 15 neighbours. Query queries[i] has the exact row row[i].
template <typename T>
std::vector<double> offset_scores(const KrigedInput<T>& input, const ExactRows<T>& rows,
                                  const std::vector<arma::uword>& row, const std::vector<arma::uword>& queries,
                                  const KeyCells<T>& cells, const arma::Mat<T>& cell_weights);

/// The places of the `count` largest values above `bound`, largest first; ties: the first place.
template <typename T>
std::vector<arma::uword> largest_places(const arma::Col<T>& values, T bound, arma::uword count);

/// The offsets of the `count` largest scores, ascending; none with score 0.
std::vector<std::int64_t> best_offsets(const std::vector<double>& scores, arma::uword count);

}  // namespace croquis
