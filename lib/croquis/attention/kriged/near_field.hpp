// Keys that are not left to the cells: lists for each query leaf, and offsets from the query.
#pragma once

#include <croquis/attention/kriged/cells.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// The keys that a query attends to by itself and not by their cells. Query i of leaf g: those of lists[g], and key
/// token(i) + o for every offset o, where there is one that is not in the list.
struct NearField {
  std::vector<std::vector<std::uint32_t>> lists;  ///< ascending; none, or one for every leaf of the query tree
  std::vector<std::int64_t> offsets;              ///< ascending

  bool empty() const { return lists.empty() && offsets.empty(); }
  bool lists_key(arma::uword leaf, std::uint32_t key) const;
};

/// The keys whose exact weight in the row of a landmark differs most from that of their cell: the `count` largest
/// |b_rj - y_r,c(j)| |v_j|, ascending. y: weights of the cells of row r. Ties: the first key.
template <typename T>
std::vector<std::uint32_t> near_keys(const KrigedInput<T>& input, const ExactRows<T>& rows, arma::uword r,
                                     const KeyCells<T>& cells, const arma::Mat<T>& cell_weights, arma::uword count);

/// How much of the rows of some queries lies at each offset and not in their cells: entry o + n - 1 (n tokens) is the
/// sum over the queries of min(|b_ij - y_i,c(j)| |v_j|, a quarter of that query's sum), j = i + o, smoothed by
/// (1/2, 1, 1/2). Query queries[i] has the exact row row[i].
template <typename T>
std::vector<double> offset_scores(const KrigedInput<T>& input, const ExactRows<T>& rows,
                                  const std::vector<arma::uword>& row, const std::vector<arma::uword>& queries,
                                  const KeyCells<T>& cells, const arma::Mat<T>& cell_weights);

/// The offsets of the `count` largest scores, ascending; none with score 0.
std::vector<std::int64_t> best_offsets(const std::vector<double>& scores, arma::uword count);

}  // namespace croquis
