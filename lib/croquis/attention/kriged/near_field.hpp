// Keys that are not left to the cells: lists for each query leaf, and offsets from the query.
#pragma once

#include <croquis/attention/kriged/cells.hpp>
#include <croquis/attention/kriged/key_screen.hpp>
#include <cstdint>
#include <memory>
#include <vector>

namespace croquis {

/// The keys that a query attends to one by one, and not by their cells. Query i of leaf g attends to the keys of
/// lists[g], to the key of token(i) + o for every offset o at which there is a key, and to those of the other keys that
/// the screen chooses.
template <typename T>
struct NearField {
  std::vector<std::vector<std::uint32_t>> lists = {};  ///< ascending; none, or one for every leaf of the query tree
  std::vector<std::int64_t> offsets = {};              ///< ascending

  std::shared_ptr<const KeyScreen<T>> screen = {};  ///< null: no keys are chosen by parts of their scores

  bool by_query() const { return !offsets.empty() || screen; }
  bool in_order() const { return lists.empty() || by_query(); }  ///< queries are not taken leaf by leaf
};

/// Replaces `keys` by the keys at these offsets from a query, in the order of the offsets. Offsets at which there is no
/// key are left out.
void keys_at(TokenAlignment tokens, arma::uword query, const std::vector<std::int64_t>& offsets,
             std::vector<std::uint32_t>& keys);

/// How much the exact weight of every key j in row r differs from that of its cell c(j): |b_rj - y_{r,c(j)}| ||v_j||,
/// where y is `cell_weights`.
template <typename T>
std::vector<T> near_scores(const KrigedInput<T>& input, const ExactRows<T>& rows, arma::uword r,
                           const KeyCells<T>& cells, const arma::Mat<T>& cell_weights);

/// For every key the sum of its near_scores in several rows without the largest of them, so that a key has to matter to
/// two rows; with a single row, its scores. Row `left_out`, if there is such a row, does not count.
template <typename T>
std::vector<T> common_scores(const std::vector<std::vector<T>>& scores, std::size_t left_out = SIZE_MAX);

/// The places of the `count` largest scores, ascending; of equal scores the first.
template <typename T>
std::vector<std::uint32_t> best_keys(const std::vector<T>& scores, arma::uword count);

/// How much of the row of a query lies at each offset and not in the cells, from its near_scores z, for n tokens. Entry
/// o + n - 1 is z'_o + (z'_{o-1} + z'_{o+1}) / 2 + (z'_{o-7} + ... + z'_{o+7}) / 2, where z'_o = min(z_j, sum(z) / 4)
/// for the key j at offset o. Keys in `listed`, to which all queries attend, have z_j = 0.
template <typename T>
std::vector<double> offset_scores(TokenAlignment tokens, arma::uword query, std::vector<T> near,
                                  const std::vector<std::uint32_t>& listed);

/// The offsets of the `count` largest scores, ascending. Offsets with score 0 are left out.
std::vector<std::int64_t> best_offsets(const std::vector<double>& scores, arma::uword count);

}  // namespace croquis
