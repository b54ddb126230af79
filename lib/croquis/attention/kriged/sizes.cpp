#include <algorithm>
#include <cmath>
#include <croquis/attention/kriged/kriging.hpp>
#include <croquis/attention/kriged/sizes.hpp>
#include <croquis/attention/method.hpp>

namespace croquis {
namespace {

// A screen adds a sixteenth of the terms of the scores in each of its rounds. A round leaves three keys at least for
// each that is kept in the end, and else the share of its keys with which rounds without end would take two thirds of
// what the screen may cost; but a fifth at least, as too much would hang on the first terms.
constexpr double kTermsOfRound = 1.0 / 16, kOfScreen = 2.0 / 3, kMostLeft = 0.9, kFewestLeft = 0.2, kLeftForEach = 3;
constexpr double kMostOfFirst = 0.75;  // of what the screen may cost, for the first round
constexpr arma::uword kRounds = 8;

double as_double(arma::uword size) {
  return static_cast<double>(size);
}

// Levels of 1.6 log2(leaves) visit all points: a product with a direction, and the sum of the smaller half.
double tree_flops(double n, double p, double leaves, bool far) {
  if (leaves < 2) return 4 * n * p;
  return n * p * (4 + (far ? 4.8 : 3.2) * std::log2(leaves)) + (far ? 0 : 96 * p * leaves);
}

// The largest size in [1, most] that fits; 1 if none does.
template <typename Fits>
arma::uword largest(arma::uword most, const Fits& fits) {
  arma::uword below = 1, above = std::max<arma::uword>(1, most) + 1;
  while (above - below > 1) {
    const arma::uword middle = below + (above - below) / 2;
    (fits(middle) ? below : above) = middle;
  }
  return below;
}

// Exact rows with their share of the importance of keys, and the ridge regression on them. Near keys take a second
// regression where they are better, and their lists look at all keys for every landmark.
double landmark_flops(const KrigedBudget& b, const KrigedSizes& sizes) {
  const double rows = as_double(sizes.landmarks + sizes.checks), s = as_double(sizes.cells), c = b.p_v + 1;
  const double exact = b.n_k * rows * (2 * b.p + 2 * b.p_v + 5);
  const double weights = rows * s * (2 * b.p + 1 + 4 * c + 2 * rows);
  const double regression = weights + rows * rows * (9 * rows + 2 * c * (kRidgesTried + 2));
  return b.near ? exact + 2 * regression + 3 * b.n_k * as_double(sizes.landmarks) : exact + regression;
}

// What a query pays for one key of its own: score, exponential and sums, and what it takes from its cell's score. A
// cell costs no more.
double flops_of_key(const KrigedBudget& b) {
  return 2 * b.p + 2 * (b.p_v + 1) + 3;
}

std::vector<arma::uword> keys_of_rounds(double n_k, arma::uword rounds, double share, arma::uword kept) {
  std::vector<arma::uword> keys;
  for (double left = n_k; keys.size() < rounds;) {
    keys.push_back(static_cast<arma::uword>(left));
    left = std::min(left, std::max(std::ceil(share * left), kLeftForEach * as_double(kept)));
  }
  return keys;
}

// What the check rows have in common.
double overlap_flops(const KrigedBudget& b, const KrigedSizes& sizes) {
  return as_double(sizes.checks * sizes.checks) * b.n_k;
}

// A tree of keys, their standard deviations, and what is tried on the check rows: cells and a regression; keys and
// offsets that rows have in common, whose scores are taken once; a window and a screen, of which each costs a row what
// it costs a query.
double pilot_flops(const KrigedBudget& b, const KrigedSizes& sizes) {
  const double rows = as_double(sizes.checks), keys = as_double(sizes.window), cells = kPilotCells * keys;
  // 7 a key, and 3 for the passes that look for the best keys, which all rows share; the same by the other rows of
  // each, two flops for each of these; there are n_q + n_k - 1 offsets.
  const double in_common = (10 + 3 + 2 * rows) * b.n_k + 12 * (b.n_q + b.n_k);
  const double coordinates = as_double(pilot_coordinates(static_cast<arma::uword>(b.p)));
  return tree_flops(b.n_k, coordinates, cells, b.far) + b.n_k * (4 * b.p + b.p_v) +
         rows * (in_common + 2 * cells * (2 * b.p + 2 * (b.p_v + 1)) + 2 * keys * flops_of_key(b));
}

}  // namespace

arma::uword pilot_coordinates(arma::uword p) {
  return (p + 3) / 4;
}

double window_flops(const KrigedBudget& b, const KrigedSizes& sizes) {
  const double rows = as_double(sizes.checks), keys = as_double(sizes.window);
  const double tokens = b.n_q * (2 * b.p + b.p_v) + b.n_k * (2 * b.p + 2 * b.p_v);
  return tokens + rows * b.n_k * (2 * b.p + 2 * b.p_v + 5) + overlap_flops(b, sizes) + pilot_flops(b, sizes) +
         std::max(b.n_q, b.n_k) * keys * flops_of_key(b);
}

ScreenSizes solve_screen(const KrigedBudget& b, double keys) {
  const double all = keys * flops_of_key(b) * std::max(b.n_q, b.n_k) / b.n_q;  // of a query
  const double terms = std::max(1.0, std::round(kTermsOfRound * b.p));
  const double first = 2 * terms * b.n_k / all;
  if (first > kMostOfFirst || b.n_k > kMostScreened) return {};
  const double share = std::clamp(1 - first / kOfScreen, kFewestLeft, kMostLeft);
  const arma::uword rounds = std::min(kRounds, static_cast<arma::uword>(b.p / terms));
  const auto fits = [&](arma::uword kept) {
    double flops = as_double(kept) * (flops_of_key(b) - 2 * terms * as_double(rounds));
    for (const arma::uword n : keys_of_rounds(b.n_k, rounds, share, kept)) flops += 2 * terms * as_double(n);
    return flops <= all;
  };
  if (!fits(1)) return {};
  ScreenSizes sizes{.terms = static_cast<arma::uword>(terms)};
  sizes.kept = largest(static_cast<arma::uword>(b.n_k), fits);
  sizes.keys = keys_of_rounds(b.n_k, rounds, share, sizes.kept);
  return sizes;
}

double exact_flops(const KrigedBudget& b) {
  return b.n_q * b.n_k * pair_flops(b.p, b.p_v);
}

double kriged_flops(const KrigedBudget& b, const KrigedSizes& sizes) {
  if (sizes.exact) return exact_flops(b);
  const double s = as_double(sizes.cells), c = b.p_v + 1;
  const double trees = tree_flops(b.n_q, b.p, as_double(sizes.landmarks), b.far) + tree_flops(b.n_k, b.p, s, b.far);
  const double sums = b.n_q * (5 * b.p + b.p_v) + b.n_k * (4 * b.p + 4 * b.p_v);  // means, distances, box, cells
  const double exact_rows = as_double(sizes.exact_rows) * b.n_k * pair_flops(b.p, b.p_v);
  const double queries = b.n_q * s * (2 * b.p + 2 * c + 3);
  // Candidates: lists of near keys of the leaves of the check rows, and rows without kriging.
  const double candidates = as_double(sizes.checks) * (3 * b.n_k * 4 + 4 * s * (2 * b.p + 2 * c));
  return trees + sums + exact_rows + queries + landmark_flops(b, sizes) + overlap_flops(b, sizes) +
         (b.near ? candidates : 0) + (b.pilot ? pilot_flops(b, sizes) : 0);
}

KrigedSizes solve_sizes(const KrigedBudget& b) {
  KrigedSizes sizes;
  if (exact_flops(b) <= b.flops) {
    sizes.exact = true;
    return sizes;
  }
  const double units = b.flops / ((b.n_q + b.n_k) * (b.p + b.p_v));
  sizes.exact_rows = static_cast<arma::uword>(std::clamp(units / 10, 2.0, 4.0));
  sizes.checks = b.checks ? static_cast<arma::uword>(std::clamp(std::round(units / 16), 4.0, 8.0)) : 0;
  sizes.exact_rows = std::min(sizes.exact_rows, static_cast<arma::uword>(b.n_q));
  sizes.checks = std::min(sizes.checks, static_cast<arma::uword>(b.n_q));
  if (b.pilot) {
    sizes.window = largest(static_cast<arma::uword>(b.n_k), [&](arma::uword keys) {
      KrigedSizes tried = sizes;
      tried.window = keys;
      return window_flops(b, tried) <= b.flops;
    });
  }
  // As many cells as landmarks, and no landmarks: what is left is what the share is of.
  const double fixed = kriged_flops(b, {0, sizes.checks, sizes.exact_rows, 1, sizes.window, false});
  // The nearer the budget comes to exact attention, the more cells have few keys, and the less there is to correct.
  const double share = b.landmark_share * (1 - b.flops / exact_flops(b));
  sizes.landmarks = largest(static_cast<arma::uword>(b.n_q), [&](arma::uword rows) {
    const KrigedSizes with{rows, sizes.checks, 0, rows, 0, false}, without{0, sizes.checks, 0, rows, 0, false};
    const double trees = tree_flops(b.n_q + b.n_k, b.p, as_double(rows), b.far);
    const double taken = landmark_flops(b, with) - landmark_flops(b, without);
    return taken <= share * (b.flops - fixed - trees);
  });
  sizes.cells = largest(static_cast<arma::uword>(b.n_k), [&](arma::uword cells) {
    KrigedSizes tried = sizes;
    tried.cells = cells;
    return kriged_flops(b, tried) <= b.flops;
  });
  // The smallest sizes cost what they cost, whatever the budget is.
  const double most = std::max(kriged_flops(b, sizes), b.pilot ? window_flops(b, sizes) : 0);
  if (most >= exact_flops(b)) return {.exact = true};
  return sizes;
}

}  // namespace croquis
