// A tree of points that is split where it varies most: the leaves of queries and of keys.
#pragma once

#include <armadillo>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// The direction along which a node is divided at its mean.
enum class SplitDirection {
  random,  ///< one step of the power method on 16 random points of the node, from the longest of them
  far,     ///< from the mean to the farthest point: nothing is drawn, and the order of the points does not matter
};

/// A partition of n points by repeated splits. Leaf c has the points order[first[c]], ..., order[first[c + 1] - 1].
struct PointTree {
  std::vector<std::uint32_t> order;
  std::vector<arma::uword> first;
  std::vector<std::uint32_t> leaf;    ///< of every point
  std::vector<std::uint32_t> node;    ///< of every leaf: nodes are numbered as they are made, two with each split
  std::vector<std::uint32_t> parent;  ///< of every node but the root, which is node 0
  double visits = 0;                  ///< points of all nodes that were split, with repetitions

  arma::uword leaves() const { return node.size(); }
  std::uint32_t count(arma::uword c) const { return static_cast<std::uint32_t>(first[c + 1] - first[c]); }

  /// For every leaf its number among the leaves that the tree had after its first leaves - 1 splits.
  std::vector<std::uint32_t> coarser(arma::uword leaves) const;
};

/// Splits the nodes with the largest weighted sums of squared distances from their means, until there are `leaves` of
/// them, or all points of every leaf are equal (up to rounding). Points are the columns of `points`, best near their
/// mean, so that sums of squares do not cancel; the weights are positive.
/// Guarantees: nodes with at least half the largest sum are split in one round; the bits do not depend on the number of
///   threads. leaves >= n gives every point a leaf of its own.
/// Randomness: the points that node i draws, from draw_key.child(i).
/// Cost: about n p (2 + 3.2 log2(leaves)) flops; `far` as much again for its farthest points.
template <typename T>
PointTree split_points(const arma::Mat<T>& points, const arma::Col<T>& weights, arma::uword leaves,
                       SplitDirection direction, const Key& draw_key);

}  // namespace croquis
