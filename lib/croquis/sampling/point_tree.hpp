// A tree of points, split where the points vary most: the leaves group queries or keys.
#pragma once

#include <armadillo>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// The direction along which a node is divided at its mean.
enum class SplitDirection {
  random,  ///< one step of the power method on 16 random points of the node, from the longest of them
  far,     ///< from the mean to the point of largest weight times squared distance: deterministic, and independent of
           ///< the order of the points (but for ties)
};

/// A partition of n points by repeated splits. Leaf c has the points order[first[c]], ..., order[first[c + 1] - 1].
struct PointTree {
  std::vector<std::uint32_t> order;
  std::vector<arma::uword> first;
  std::vector<std::uint32_t> leaf;    ///< for every point its leaf
  std::vector<std::uint32_t> node;    ///< for every leaf its node; a split creates two nodes, numbered by creation
  std::vector<std::uint32_t> parent;  ///< for every node its parent (for the root, 0, itself); empty: no splits
  double visits = 0;                  ///< the sum of the sizes of all nodes that were split

  arma::uword leaves() const { return node.size(); }
  std::uint32_t count(arma::uword c) const { return static_cast<std::uint32_t>(first[c + 1] - first[c]); }

  /// For every leaf, the number of the leaf that contains it in the tree after its first wanted - 1 splits, wanted
  /// >= 1. Where `parent` is empty there were no splits, and every leaf is its own.
  std::vector<std::uint32_t> coarser(arma::uword wanted) const;
};

/// Splits the nodes with the largest weighted sums of squared distances from their means, until there are `leaves`
/// leaves or the points of every leaf are equal (up to rounding). The points are the columns of `points` (p x n). They
/// should be centred, so that sums of squares do not cancel, and may be of any size. `weights` are n numbers > 0.
/// Guarantees: nodes with at least half of the largest sum are split in the same round. The bits do not depend on the
///   number of threads. leaves >= n gives every point a leaf of its own.
/// Randomness: the points that node i draws, from draw_key.child(i).
/// Cost: about n p (2 + 3.2 log2(leaves)) flops; `far` takes as many again for its farthest points.
template <typename T>
PointTree split_points(const arma::Mat<T>& points, const arma::Col<T>& weights, arma::uword leaves,
                       SplitDirection direction, const Key& draw_key);

}  // namespace croquis
