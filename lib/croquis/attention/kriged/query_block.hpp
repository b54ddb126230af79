// The rows of B~ for some queries at a time, before they are written anywhere: what the forward pass and its adjoint
// share.
#pragma once

#include <croquis/attention/kriged/cells.hpp>
#include <croquis/attention/kriged/near_field.hpp>
#include <croquis/attention/kriged/value_box.hpp>
#include <vector>

namespace croquis {

/// At most 64 queries: begin, ..., end - 1, or, if leaves have lists of keys, order[begin], ..., order[end - 1] for the
/// order of the query tree, all of one leaf.
struct QueryBlock {
  arma::uword leaf, begin, end;
};

template <typename T>
std::vector<QueryBlock> blocks_of_queries(const PointTree& tree, const NearField<T>& near);

/// Working memory that a thread keeps from block to block, in the notation of QueryRows. A row is a query of the block.
template <typename T>
struct BlockRows {
  const std::uint32_t* order = nullptr;              ///< which queries they are
  const std::vector<std::uint32_t>* list = nullptr;  ///< keys of their leaf; null where there are no lists
  arma::Mat<T> queries, columns;                     ///< over sqrt(p); transposed, where keys are taken one by one
  arma::Mat<T> cells;                                ///< E_ic, rows x s, by query as TakenKeys says
  arma::Mat<T> near, near_keys, near_values;         ///< E_ij - E_i,c(j) of the list; its keys and values, as columns
  arma::Mat<T> sums;                                 ///< full_i([V, 1]), from divide() on over full_i(1)
  arma::Col<T> top, total, whole, counted;           ///< ..., full_i(1), base_i(1)
  arma::Col<T> outside;                              ///< the largest distance of a divided sum from the box of V
  std::vector<char> lost;                            ///< rows that leave the box, or whose full_i(1) is too small
  arma::Col<T> margins;                              ///< with a screen: what KeyScreen::choose returned
  std::vector<std::vector<std::uint32_t>> window;    ///< for every query, the keys at offsets or by the screen
  std::vector<std::vector<T>> window_weights;        ///< E_ij - E_i,c(j) of these keys
  TakenKeys<T> taken;                                ///< of one query

  arma::uword size() const { return queries.n_rows; }
};

/// Row i, full_i(V) / full_i(1), moved towards base_i(V) / base_i(1) until it is in the box; or, where full_i(1) is too
/// small, base_i(V) / base_i(1) itself.
template <typename T>
struct BroughtBack {
  arma::Row<T> inside, row;  ///< base_i(V) / base_i(1), full_i(V) / full_i(1)
  InBox<T> reached;          ///< how far the moved row is on the way from `inside` to `row`; 0: at `inside`
};

template <typename T>
class BlockPass {
 public:
  /// The arguments, other than `tree` and `correction`, must outlive the pass.
  BlockPass(const KrigedInput<T>& input, const PointTree& tree, const KeyCells<T>& cells, const NearField<T>& near,
            const arma::Mat<T>& correction);

  /// Computes the members of `rows` up to `sums`, which are not divided yet.
  void fill(const QueryBlock& block, BlockRows<T>& rows) const;
  /// Divides the sums, and finds the rows that are lost.
  void divide(BlockRows<T>& rows) const;
  /// The row in place of row i, which is lost.
  BroughtBack<T> bring_back(arma::uword i, const BlockRows<T>& rows) const;

 private:
  void take_queries(const QueryBlock& block, BlockRows<T>& rows) const;
  void near_scores(BlockRows<T>& rows) const;
  void add_near(BlockRows<T>& rows) const;
  void own_scores(BlockRows<T>& rows) const;
  void scores_of_what_is_left(BlockRows<T>& rows) const;
  void add_window(BlockRows<T>& rows) const;
  void count(BlockRows<T>& rows) const;
  arma::Row<T> base(arma::uword i, const BlockRows<T>& rows) const;

  const KrigedInput<T>& input_;
  const KeyCells<T>& cells_;
  const NearField<T>& near_;
  std::vector<std::uint32_t> order_;  // of the queries: of their tree where its leaves matter
  const bool corrected_;
  const arma::Mat<T> sums_;
  const ValueBox<T> box_;
  // Of each key whether it is listed, or empty. Where queries have keys of their own, the tree has one leaf, and one
  // list at most.
  std::vector<char> listed_;
};

}  // namespace croquis
