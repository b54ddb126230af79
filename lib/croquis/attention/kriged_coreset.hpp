// The kriged coreset: exact rows of landmark queries, a weighted coreset of keys, and the coreset's error at the
// landmarks interpolated by ridge regression.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/sampling/point_tree.hpp>

namespace croquis {

struct KrigedCoresetOptions {
  enum class Mode {
    automatic,  ///< whatever has the smallest error at a few check rows
    coreset,    ///< cells alone; no check rows
    near,       ///< cells and, for each query leaf, keys by themselves
    window,     ///< cells and keys at a few offsets from the query
  };
  Mode mode = Mode::automatic;
  SplitDirection tree = SplitDirection::random;
  bool window = true;            ///< automatic: may take a window; without, the order of the tokens does not matter
  bool kriging = true;           ///< correct by what the landmarks' rows have and their cells have not
  double landmark_share = 0.45;  ///< of the flops: exact rows and the regression on them; cells have the rest
};

/// With R the means of the leaves of a tree of queries (landmarks) and e random queries (check rows), B_R their exact
/// rows, and cells c of keys from a tree of keys weighted by their importance in B_R:
///   B~_i X = [sum_c E_ic (sum_{j in c} x_j + (W (B_R X - Y S X))_c)] / [the same for X = 1],
/// E_ic = exp(q_i.k_c / sqrt(p)), k_c the weighted mean of the cell's keys, Y the cells' weights in the rows of R, S
/// the sums over cells, W the ridge regression with the smallest leave-one-out error. Queries that are alone in their
/// leaf, check rows and the queries farthest from their leaf's mean have their exact rows. Guarantees: rows of B~ sum
/// to 1; outputs are in the box of V (between the columns' minima and maxima); exact where every query is its leaf,
/// every key its cell, or exact attention costs no more; a constant added to all keys changes nothing; with tree=far
/// and no window, equivariant under permutations of the tokens. Up to rounding, all of them. Randomness: trees from
/// draw_key.child("queries") and child("keys"), check rows from child("checks"). Cost: the flops of skyformer_softmax
/// with d landmarks, whose number is the only use of d: sizes are solved for it (kriged/sizes.hpp). O(n (N + s))
/// numbers of memory.
template <typename T>
Approximation<T> kriged_coreset(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                const KrigedCoresetOptions& options = {});

template <typename T>
Method<T> kriged_coreset_method();

}  // namespace croquis
