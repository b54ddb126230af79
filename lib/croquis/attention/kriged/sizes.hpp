// How many landmarks and cells the kriged coreset can afford: its flops, counted, and the sizes that meet a budget.
#pragma once

#include <armadillo>

namespace croquis {

/// What the sizes are solved for, and how the budget is divided.
struct KrigedBudget {
  double flops = 0;
  double n_q = 0, n_k = 0, p = 0, p_v = 0;
  double landmark_share = 0.45;  ///< of the flops that trees, exact rows and checks leave: landmarks, their ridge
                                 ///< regression included; the cells have the rest
  bool checks = true;            ///< check rows and the evaluation of candidates on them
  bool pilot = true;             ///< first of all a window is tried on the check rows
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

/// Cells that the pilot makes, for which the window leaves a part of its keys.
constexpr double kPilotCells = 0.35;

/// Flops of one approximation of these sizes: two a multiply-add, one an exponential, the terms in N^3 as LAPACK takes
/// them. The trees are counted as 1.6 log2(leaves) levels, which is more than they need on most data.
double kriged_flops(const KrigedBudget& budget, const KrigedSizes& sizes);

/// Flops of the window in its place, with sizes.window keys a query.
double window_flops(const KrigedBudget& budget, const KrigedSizes& sizes);

/// Flops of exact attention.
double exact_flops(const KrigedBudget& budget);

/// The largest sizes, at least one landmark and one cell, whose flops are at most the budget. Cost: a few hundred
/// evaluations of kriged_flops.
KrigedSizes solve_sizes(const KrigedBudget& budget);

}  // namespace croquis
