// The kriged coreset: exact rows of landmark queries, a weighted coreset of keys, and the coreset's error at the
// landmarks interpolated by ridge regression.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/sampling/point_tree.hpp>

namespace croquis {

struct KrigedCoresetOptions {
  enum class Mode {
    automatic,  ///< decided by a few check rows: coreset if they have most of their attention in common, otherwise the
                ///< plan with the smallest error on them
    coreset,    ///< landmarks, cells and regression; no check rows
    near,       ///< landmarks, cells, regression, and single keys for each leaf of queries
    window,     ///< cells, and single keys for each query; neither landmarks nor regression
  };
  Mode mode = Mode::automatic;
  SplitDirection tree = SplitDirection::random;
  bool window = true;            ///< allow keys at offsets from the query; false: the order of tokens does not matter
  bool kriging = true;           ///< correct by the difference between the landmarks' exact rows and their cells
  double landmark_share = 0.45;  ///< share of the flops for exact rows and their regression, times 1 - (flops / those
                                 ///< of exact attention); the rest is for cells
};

/// Two plans, and check rows (random queries with their exact rows) that choose between them:
/// - Landmarks. The rows R are the means of the leaves of a tree of queries, and the check rows. B_R are their exact
///   rows. The cells c of keys are the leaves of a tree of keys, weighted by their importance in B_R:
///     B~_i X = [sum_c E_ic (S X + W (B_R X - Y S X))_c] / [the same for X = 1],
///   E_ic = exp(q_i.k_c / sqrt(p)), where k_c is the weighted mean of the cell's keys, S X the sums over cells, Y the
///   weights of the cells in the rows R, and W the ridge regression with the smallest leave-one-out error ("kriging").
/// - Keys of each query (sharp rows). No landmarks and no W. Single keys are a few for all queries and those at some
///   offsets from the query, and perhaps those with the largest scores, as estimated from the scores' largest terms
///   (KeyScreen). A cell that keys are taken out of has another score (TakenKeys). The mean of all values gets a share
///   of every row, by which the outputs of the check rows are nearest to the exact ones.
/// Queries that equal the mean of their leaf and check rows have exact rows; with landmarks or a screen, so have the
/// queries with the largest expected errors.
/// Guarantees: rows of B~ sum to 1. Every column of the output lies between the minimum and the maximum of that column
///   of V. Exact if every query is a leaf, if every key is a cell, or if exact attention costs no more, as for d >=
///   min(n_q, n_k). A constant vector added to all keys changes nothing. With tree=far, window=no and mode=coreset,
///   equivariant under permutations of the tokens. All this up to rounding. The bits are the same for any number of
///   threads.
/// Randomness: the trees from draw_key.child("queries"), child("keys") and child("pilot"), the check rows from
///   child("checks").
/// Cost: at most skyformer_flops() with d landmarks, terms in d^3 included, or the flops of exact attention if they are
///   fewer. All sizes are derived from this budget, which is the only use of d. If d is too small for one
///   landmark, one cell and the least number of exact rows, it has these, unless exact attention costs no more. Memory:
///   O((n_q + n_k) (N + p + p_v)) numbers for N exact rows.
template <typename T>
Approximation<T> kriged_coreset(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                const KrigedCoresetOptions& options = {});

template <typename T>
Method<T> kriged_coreset_method();

}  // namespace croquis
