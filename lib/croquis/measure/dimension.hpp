// Statistical dimension of the lift of a head, and the landmarks that it asks for: what `croquis dimension` measures.
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

/// A head at one kernel width and one epsilon; the columns say what each member is. NaN is what there is nothing to say
/// about.
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

/// The random key of `croquis dimension --seed` for the input of that name.
Key dimension_key(std::uint64_t seed, const std::string& input);

struct DimensionSettings {
  std::vector<double> epsilons = {0.01, 0.1, 0.5};  ///< lambda = epsilon ||C||; each in (0, 1)
  double delta = 0.1;                               ///< probability of failure of the theorem, in (0, 0.5)
  std::uint64_t trials = 20;                        ///< draws for the d that suffices; 0: it is not searched for
  SpectrumSettings spectrum = {};                   ///< of the lift
  std::function<bool()> stop_requested = {};        ///< asked between draws, on any thread
};

/// Whether all eigenvalues of the lift of a problem of n tokens are computed. Throws std::invalid_argument for
/// SpectrumMethod::dense with more than kLargestDenseLift tokens.
bool has_dense_lift(arma::uword n, SpectrumMethod method);
inline constexpr arma::uword kLargestDenseLift = 4096;

/// A row for each epsilon of the kernelized scores of a problem whose kernel width is multiplied by `width` (queries
/// and keys are divided by it); no rows where a stop was requested. A failure becomes the status of all rows. input and
/// seed are the caller's.
/// The lift has 2n points. Dense: all its eigenvalues; else its `leading` largest eigenvalues by Lanczos, what they
/// leave of d_stat by stochastic quadrature with `probes` vectors (95 %), and a leverage score l_i is at most
/// sum_k g(mu_k) v_ki^2 + g(mu) (1 - sum_k v_ki^2), mu the smallest eigenvalue found, g(x) = x / (x + lambda): the
/// scores are upper limits then, and beta a lower one.
/// Randomness: children of key.child(n), which do not depend on the width, so that the rows of two widths are paired.
/// Cost: dense, about 72 n^3 flops; lanczos, some 2 (leading + probes) products with the lift; then for each trial
/// about 2 log2 d products with C - C~ times the Lanczos steps of a norm. Trials run side by side. Throws
/// std::invalid_argument for settings out of range.
std::vector<DimensionRow> lift_dimensions(const Problem<double>& problem, double width, const Key& key,
                                          const DimensionSettings& settings = {});

/// One input, width and epsilon over the numbers of tokens. NaN is what a row does not have.
struct DimensionCurve {
  std::string input;
  double width = 1, epsilon = 0;
  std::vector<double> n, d_stat, d_theorem, d_suffices;
};

/// Of the rows of status ok, in their order.
std::vector<DimensionCurve> dimension_curves(const std::vector<DimensionRow>& rows);

/// How a metric of a curve grows from its first size to its last one.
struct DimensionSummary {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input, width, epsilon, metric;  ///< width and epsilon with 6 digits, for people
  std::uint64_t sizes = 0, first_n = 0, last_n = 0;
  double first = kUndefined, last = kUndefined, exponent = kUndefined;
};

const Columns<DimensionSummary>& dimension_summary_columns();

/// Of each curve d_stat, d_theorem and d_suffices.
std::vector<DimensionSummary> summarise_dimensions(const std::vector<DimensionCurve>& curves);

}  // namespace croquis
