// How many landmarks and cells the kriged coreset can afford: its flops, counted, and the sizes that meet a budget.
#pragma once

#include <armadillo>
#include <vector>

namespace croquis {

/// What the sizes are solved for, and how the budget is divided.
struct KrigedBudget {
  double flops = 0;
  double n_q = 0, n_k = 0, p = 0, p_v = 0;
  /// Of the flops that trees, exact rows and checks leave, landmarks and their ridge regression get landmark_share
  /// times 1 - flops / (those of exact attention); cells get the rest.
  double landmark_share = 0.45;
  bool checks = true;  ///< there are check rows
  bool near = true;    ///< near keys of the leaves are tried on the check rows
  bool pilot = true;   ///< before anything else, plans with keys of each query's own are tried on the check rows
  bool far = false;    ///< the trees look for farthest points
};

struct KrigedSizes {
  arma::uword landmarks = 0;   ///< leaves of the query tree, D
  arma::uword checks = 0;      ///< check rows, e
  arma::uword exact_rows = 0;  ///< rows of the queries farthest from their leaf means
  arma::uword cells = 0;       ///< s, leaves of the key tree, or near keys in their place at the same cost a query
  arma::uword window = 0;      ///< keys and cells of a query in a plan by query, without landmarks and query tree
  bool exact = false;          ///< exact attention costs no more
};

/// How a query finds keys among all by parts of their scores, in rounds (KeyScreen).
struct ScreenSizes {
  arma::uword terms = 0;               ///< number of terms that a round adds to the sums of its keys
  std::vector<arma::uword> keys = {};  ///< number of keys of each round; the first has all
  arma::uword kept = 0;                ///< number of keys after the last round; 0: no screen
};

/// The screen that, with the keys that it keeps, costs as much as `keys` keys that a query attends to. kept is 0 where
/// the first round, p/16 terms of all scores, takes more than .75 of that. It is also 0 if there are more than
/// kMostScreened keys, because a screen takes several times as long as products with as many flops.
constexpr double kMostScreened = 4096;
ScreenSizes solve_screen(const KrigedBudget& budget, double keys);

/// The number of cells that the pilot makes, as a share of the keys that a query can afford.
constexpr double kPilotCells = 0.2;

/// The number of coordinates of the keys by which the pilot's tree divides them.
arma::uword pilot_coordinates(arma::uword p);

/// Flops of one approximation of these sizes: two a multiply-add, one an exponential, the terms in N^3 as LAPACK takes
/// them. The trees are counted as 1.6 log2(leaves) levels, which is more than they need on most data.
double kriged_flops(const KrigedBudget& budget, const KrigedSizes& sizes);

/// Flops of an approximation by query, without landmarks, with sizes.window keys and cells a query.
double window_flops(const KrigedBudget& budget, const KrigedSizes& sizes);

/// Flops of exact attention.
double exact_flops(const KrigedBudget& budget);

/// The largest sizes whose flops are at most the budget, or one landmark and one cell with the least number of check
/// rows and exact rows, if even these cost more. `exact` is set if exact attention costs no more than the budget or
/// than these sizes. Cost: a few hundred evaluations of kriged_flops.
KrigedSizes solve_sizes(const KrigedBudget& budget);

}  // namespace croquis
