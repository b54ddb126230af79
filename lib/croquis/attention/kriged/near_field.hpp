// Keys that are not left to the cells: lists for each query leaf, and offsets from the query.
#pragma once

#include <croquis/attention/kriged/cells.hpp>
#include <croquis/attention/kriged/key_screen.hpp>
#include <cstdint>
#include <memory>
#include <vector>

namespace croquis {

/// The keys that a query attends to by itself and not by their cells. Query i of leaf g: those of lists[g], and key
/// token(i) + o for every offset o, where there is one that is not in the list; of those that are neither, what the
/// screen chooses.
template <typename T>
struct NearField {
  std::vector<std::vector<std::uint32_t>> lists = {};  ///< ascending; none, or one for every leaf of the query tree
  std::vector<std::int64_t> offsets = {};              ///< ascending

  std::shared_ptr<const KeyScreen<T>> screen = {};  ///< none: no keys by parts of their scores

  bool by_query() const { return !offsets.empty() || screen; }
  bool in_order() const { return lists.empty() || by_query(); }  ///< queries are not taken leaf by leaf
};

/// The keys at these offsets from a query, those that there are, in the order of the offsets. They replace `keys`.
void keys_at(TokenAlignment tokens, arma::uword query, const std::vector<std::int64_t>& offsets,
             std::vector<std::uint32_t>& keys);

/// How much the exact weights of every key in row r differ from those of its cell: |b_rj - y_r,c(j)| |v_j|. y: weights
/// of the cells.
template <typename T>
std::vector<T> near_scores(const KrigedInput<T>& input, const ExactRows<T>& rows, arma::uword r,
                           const KeyCells<T>& cells, const arma::Mat<T>& cell_weights);

/// Of every key the sum of its near_scores in several rows without the largest, so that it has to matter to two of
/// them; of a single row, its scores. Row `left_out`, if there is one of that number, does not count.
template <typename T>
std::vector<T> common_scores(const std::vector<std::vector<T>>& scores, std::size_t left_out = SIZE_MAX);

/// The places of the `count` largest scores, ascending; ties: the first.
template <typename T>
std::vector<std::uint32_t> best_keys(const std::vector<T>& scores, arma::uword count);

/// How much of the row of a query lies at each offset and not in the cells, from its near_scores z: entry o + n - 1 (n
/// tokens) is min(z_j, sum(z) / 4) of the key j at offset o, smoothed by (1/2, 1, 1/2) and half the sum over 15
/// neighbours. Keys that are listed, for all queries, count nothing.
template <typename T>
std::vector<double> offset_scores(TokenAlignment tokens, arma::uword query, std::vector<T> near,
                                  const std::vector<std::uint32_t>& listed);

/// The offsets of the `count` largest scores, ascending; none with score 0.
std::vector<std::int64_t> best_offsets(const std::vector<double>& scores, arma::uword count);

}  // namespace croquis
