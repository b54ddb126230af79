// How many landmarks and cells the kriged coreset can afford: its flops, counted, and the sizes that meet a budget.
#pragma once

#include <armadillo>

namespace croquis {

/// What the sizes are solved for, and how the budget is divided.
struct KrigedBudget {
  double flops = 0;
  double n_q = 0, n_k = 0, p = 0, p_v = 0;
  double landmark_share = 0.45;  ///< times 1 - flops / exact attention's, of the flops that trees, exact rows and
                                 ///< checks leave: landmarks, their ridge regression included; cells have the rest
  bool checks = true;            ///< check rows
  bool near = true;              ///< near keys of the leaves are tried on them
  bool pilot = true;             ///< first of all keys of each query's own are tried on the check rows
  bool far = false;              ///< the trees look for farthest points
};

struct KrigedSizes {
  arma::uword landmarks = 0;   ///< leaves of the query tree, D
  arma::uword checks = 0;      ///< check rows, e
  arma::uword exact_rows = 0;  ///< rows of the queries farthest from their leaf means
  arma::uword cells = 0;       ///< leaves of the key tree, s; or what takes its place at the same cost a query
  arma::uword window = 0;      ///< the same where a window takes everything: no landmarks, no query tree
  bool exact = false;          ///< exact attention costs no more
};

/// How a query finds keys among all by parts of their scores (KeyScreen).
struct ScreenSizes {
  arma::uword first = 0, terms = 0;  ///< terms of a score, for all keys and for the candidates
  arma::uword candidates = 0;        ///< keys with the largest sums of the first terms
  arma::uword kept = 0;              ///< of them, with the largest sums of all terms; 0: no screen
};

/// The screen that costs as much as `keys` keys which a query attends to, those that it keeps included. kept is 0 where
/// the first terms alone cost more, and above kMostScreened keys, since a screen takes several times as long as
/// products with as many flops.
constexpr double kMostScreened = 1024;
ScreenSizes solve_screen(const KrigedBudget& budget, double keys);

/// Cells that the pilot makes, of the keys that a query can afford.
constexpr double kPilotCells = 0.25;

/// Flops of one approximation of these sizes: two a multiply-add, one an exponential, the terms in N^3 as LAPACK takes
/// them. The trees are counted as 1.6 log2(leaves) levels, which is more than they need on most data.
double kriged_flops(const KrigedBudget& budget, const KrigedSizes& sizes);

/// Flops of the window in its place, with sizes.window keys a query.
double window_flops(const KrigedBudget& budget, const KrigedSizes& sizes);

/// Flops of exact attention.
double exact_flops(const KrigedBudget& budget);

/// The largest sizes whose flops are at most the budget; one landmark and one cell, with the least number of check rows
/// and exact rows, where even these cost more. `exact` where exact attention costs no more than the budget or than what
/// was found. Cost: a few hundred evaluations of kriged_flops.
KrigedSizes solve_sizes(const KrigedBudget& budget);

}  // namespace croquis
