// The kriged coreset: exact rows of landmark queries, a weighted coreset of keys, and the coreset's error at the
// landmarks interpolated by ridge regression.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/sampling/point_tree.hpp>

namespace croquis {

struct KrigedCoresetOptions {
  enum class Mode {
    automatic,  ///< what a few check rows say: whether they have most of their attention in common, else their errors
    coreset,    ///< landmarks, cells and regression; no check rows
    near,       ///< landmarks, cells, regression, and keys that each leaf of queries attends to one by one
    window,     ///< cells, and keys that each query attends to one by one; neither landmarks nor regression
  };
  Mode mode = Mode::automatic;
  SplitDirection tree = SplitDirection::random;
  bool window = true;            ///< keys at some offsets from the query; without, the order of tokens does not matter
  bool kriging = true;           ///< correct by what the landmarks' rows have and their cells have not
  double landmark_share = 0.45;  ///< times 1 - flops / exact attention's, of the flops: exact rows and the regression
                                 ///< on them; cells have the rest
};

/// Two plans, and check rows (random queries with their exact rows) that choose between them:
/// - Landmarks. R are the means of the leaves of a tree of queries and the check rows, B_R their exact rows, c cells of
///   keys from a tree of keys weighted by their importance in B_R:
///     B~_i X = [sum_c E_ic (S X + W (B_R X - Y S X))_c] / [the same for X = 1],
///   E_ic = exp(q_i.k_c / sqrt(p)), k_c the weighted mean of the cell's keys, S X the sums over cells, Y the weights of
///   the cells in the rows R, W the ridge regression with the smallest leave-one-out error ("kriging").
/// - Keys of the query's own (sharp rows). No landmarks, no W; attended to one by one are the keys at some offsets from
///   the query and a few for all queries, or those with the largest scores as far as their largest terms say
///   (KeyScreen).
/// Queries that equal the mean of their leaf, check rows and the queries that are worst off have their exact rows.
/// Guarantees: rows of B~ sum to 1; outputs are in the box of V (between the columns' minima and maxima); exact where
///   every query is its leaf, every key its cell, or exact attention costs no more; a constant vector added to all keys
///   changes nothing; with tree=far, window=no and mode=coreset, equivariant under permutations of the tokens. All up
///   to rounding. The same bits for any number of threads.
/// Randomness: trees from draw_key.child("queries"), child("keys") and child("pilot"), check rows from child("checks").
/// Cost: at most the flops of skyformer_softmax with d landmarks, terms in d^3 included, or of exact attention if that
///   is less; sizes are solved for that number, the only use of d. A d too small for one landmark and one cell gets
///   these. O((n_q + n_k) (N + p + p_v)) numbers of memory.
template <typename T>
Approximation<T> kriged_coreset(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                const KrigedCoresetOptions& options = {});

template <typename T>
Method<T> kriged_coreset_method();

}  // namespace croquis
