// The statistical dimension of the lift of a head, and the numbers of landmarks that it implies: what `croquis
// dimension` measures.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/measure/spectra.hpp>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

/// A head at one kernel width and one epsilon. dimension_columns() documents the members. NaN marks a number that does
/// not apply.
struct DimensionRow {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input;
  std::uint64_t n = 0, p = 0;
  double norm = kUndefined, width = 1, epsilon = kUndefined, delta = kUndefined, lambda = kUndefined;
  double norm_c = kUndefined, norm_lift = kUndefined, stable_rank_c = kUndefined, stable_rank_lift = kUndefined;
  double d_stat = kUndefined, d_stat_lo = kUndefined, d_stat_hi = kUndefined;
  double leverage_max = kUndefined, leverage_q90 = kUndefined, leverage_q50 = kUndefined, leverage_q10 = kUndefined;
  double beta = kUndefined, d_theorem = kUndefined, d_suffices = kUndefined;
  std::optional<std::uint64_t> failures;
  std::uint64_t trials = 0;
  double failure_lo = kUndefined, failure_hi = kUndefined;
  std::string method;
  std::uint64_t seed = 0;
  std::string status = "ok";
  std::optional<std::uint64_t> sequence = {}, layer = {}, head = {};
};

const Columns<DimensionRow>& dimension_columns();

/// The random key of `croquis dimension --seed` for inputs of that kind ("synthetic", "arrays", ...).
Key dimension_key(std::uint64_t seed, const std::string& kind);

struct DimensionSettings {
  std::vector<double> epsilons = {0.01, 0.1, 0.5};  ///< lambda = epsilon ||C||; each in (0, 1)
  double delta = 0.1;                               ///< probability of failure of the theorem, in (0, 0.5)
  std::uint64_t trials = 20;                        ///< draws for d_suffices; 0: it is not computed
  SpectrumSettings spectrum = {};                   ///< of the lift
  std::function<bool()> stop_requested = {};        ///< called between draws, on any thread; true stops
};

/// Whether all eigenvalues of the lift of a problem of n tokens are computed. Throws std::invalid_argument for
/// SpectrumMethod::dense with n > kLargestDenseLift.
bool has_dense_lift(arma::uword n, SpectrumMethod method);
inline constexpr arma::uword kLargestDenseLift = 4096;

/// A row for each epsilon, for the kernelized scores of a problem whose kernel width is multiplied by `width` (queries
/// and keys are divided by it). No rows if a stop was requested. A failure becomes the status of all rows. The caller
/// sets input and seed.
///
/// The lift has 2n points. dense: all eigenvalues. lanczos: the `leading` largest eigenvalues, the rest of d_stat by
/// stochastic quadrature with `probes` vectors (95 % interval, asymptotic in their number), and upper bounds of the
/// leverage scores: l_i <= sum_k g(mu_k) v_ki^2 + g(mu) (1 - sum_k v_ki^2), where mu is the smallest eigenvalue found
/// and g(x) = x / (x + lambda). They are bounds up to the accuracy of the eigenvectors, if no repeated eigenvalue was
/// missed. beta is then a lower bound in the same sense.
/// Randomness: children of key.child(n), which do not depend on the width, so the rows of two widths are paired.
/// Cost: dense, about 72 n^3 flops; lanczos, some 2 (leading + probes) products with the lift. Then, for each trial,
///   about 2 log2 d products with C - C~ times the Lanczos steps of a norm. Trials run in parallel.
/// Throws: std::invalid_argument for settings out of range, and for a rectangular problem.
std::vector<DimensionRow> lift_dimensions(const Problem<double>& problem, double width, const Key& key,
                                          const DimensionSettings& settings = {});

/// The metrics of one input, width and epsilon against n. NaN if a row does not have a metric.
struct DimensionCurve {
  std::string input;
  double width = 1, epsilon = 0;
  std::vector<double> n, d_stat, d_theorem, d_suffices;
};

/// The curves of the rows with status ok, in their order.
std::vector<DimensionCurve> dimension_curves(const std::vector<DimensionRow>& rows);

/// The growth of a metric of a curve from its first to its last size.
struct DimensionSummary {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input, width, epsilon, metric;  ///< width and epsilon with 6 digits, for people
  std::uint64_t sizes = 0, first_n = 0, last_n = 0;
  double first = kUndefined, last = kUndefined, exponent = kUndefined;
};

const Columns<DimensionSummary>& dimension_summary_columns();

/// The growth of d_stat, d_theorem and d_suffices for each curve.
std::vector<DimensionSummary> summarise_dimensions(const std::vector<DimensionCurve>& curves);

}  // namespace croquis
