#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/core/whole_part.hpp>
#include <croquis/measure/dimension.hpp>
#include <croquis/measure/head_columns.hpp>
#include <croquis/measure/lift_spectrum.hpp>
#include <croquis/sampling/leverage.hpp>
#include <croquis/stats/intervals.hpp>
#include <exception>
#include <utility>

namespace croquis {
namespace {

constexpr double kUndefined = DimensionRow::kUndefined;
constexpr double kMissed = 0.05;  // of the interval for the probability of failure
static_assert(kLargestDenseLift == RidgeLeverage<double>::kLargestN / 2);

struct Sufficient {
  double d = kUndefined;
  std::uint64_t failures = 0;
};

// The smallest d at which at most a part `delta` of the draws fails.
Sufficient smallest(std::vector<double> draws, double delta) {
  std::sort(draws.begin(), draws.end());
  const std::size_t allowed = whole_part(delta, draws.size());
  const double d = draws[draws.size() - 1 - std::min(allowed, draws.size() - 1)];
  // Where no d does, those that fail are the draws that fail with all 2n of their landmarks.
  const auto failures = std::count_if(draws.begin(), draws.end(), [&](double x) { return x > d || std::isinf(x); });
  return {d, static_cast<std::uint64_t>(failures)};
}

// One an epsilon; none when a stop was requested: with fewer trials they would not be what was asked for.
std::vector<Sufficient> search(const Problem<double>& problem, double norm_c, bool dense, const Key& key,
                               const DimensionSettings& settings) {
  const auto exact = kernelized_scores(problem, dense);
  std::vector<std::vector<double>> draws(settings.epsilons.size(), std::vector<double>(settings.trials, kUndefined));
  std::atomic<bool> stopped{false};
  parallel_for(settings.trials, [&](std::size_t t) {
    if (stopped || (settings.stop_requested && settings.stop_requested())) {
      stopped = true;
      return;
    }
    // Widths see the same landmarks: their rows are paired.
    const auto d = sufficient_landmarks(problem, exact, norm_c, settings.epsilons, key.child("trial").child(t + 1));
    for (std::size_t e = 0; e < d.size(); ++e) draws[e][t] = d[e];
  });
  std::vector<Sufficient> found;
  if (stopped) return found;
  found.reserve(draws.size());
  for (std::vector<double>& some : draws) found.push_back(smallest(std::move(some), settings.delta));
  return found;
}

void set_spectrum(DimensionRow& row, const LiftSpectrum& spectrum, const LiftDimension& d) {
  row.lambda = d.lambda;
  row.norm_c = spectrum.norm_c;
  row.norm_lift = spectrum.norm_lift;
  row.stable_rank_c = spectrum.stable_rank_c;
  row.stable_rank_lift = spectrum.stable_rank_lift;
  row.d_stat = d.d_stat;
  row.d_stat_lo = d.d_stat_lo;
  row.d_stat_hi = d.d_stat_hi;
  row.leverage_max = d.leverage_max;
  row.leverage_q90 = d.leverage_q90;
  row.leverage_q50 = d.leverage_q50;
  row.leverage_q10 = d.leverage_q10;
  row.beta = d.beta;
  row.d_theorem = std::ceil(56.0 / 3 * d.d_stat_hi / d.beta * std::log(4 * static_cast<double>(row.n) / row.delta));
}

void set_search(DimensionRow& row, const Sufficient& sufficient) {
  if (std::isfinite(sufficient.d)) row.d_suffices = sufficient.d;
  row.failures = sufficient.failures;
  const Interval failure = clopper_pearson(sufficient.failures, row.trials, kMissed);
  row.failure_lo = failure.lo;
  row.failure_hi = failure.hi;
}

void check(double width, const DimensionSettings& settings) {
  const char* const where = "dimension";
  require(width > 0 && std::isfinite(width), where, "0 < width", {{"width", width}});
  require(!settings.epsilons.empty(), where, "at least one epsilon");
  for (const double epsilon : settings.epsilons) {
    require(epsilon > 0 && epsilon < 1, where, "0 < epsilon < 1", {{"epsilon", epsilon}});
  }
  require(settings.delta > 0 && settings.delta < 0.5, where, "0 < delta < 0.5", {{"delta", settings.delta}});
  require(settings.spectrum.leading >= 1, where, "leading >= 1", {{"leading", settings.spectrum.leading}});
  require(settings.spectrum.probes >= 2, where, "probes >= 2", {{"probes", settings.spectrum.probes}});
}

DimensionRow common_row(const Problem<double>& problem, double width, bool dense, const DimensionSettings& settings) {
  DimensionRow row;
  row.n = problem.n();
  row.p = problem.p();
  row.norm = std::sqrt((arma::accu(arma::square(problem.Q())) + arma::accu(arma::square(problem.K()))) /
                       (2 * static_cast<double>(problem.n())));
  row.width = width;
  row.delta = settings.delta;
  row.trials = settings.trials;
  row.method = dense ? "dense" : "lanczos";
  return row;
}

}  // namespace

bool has_dense_lift(arma::uword n, SpectrumMethod method) {
  const bool fits = n <= kLargestDenseLift;
  require(fits || method != SpectrumMethod::dense, "dimension", "n <= 4096 for a dense lift", {{"n", n}});
  return method == SpectrumMethod::dense || (method == SpectrumMethod::automatic && fits);
}

std::vector<DimensionRow> lift_dimensions(const Problem<double>& problem, double width, const Key& key,
                                          const DimensionSettings& settings) {
  const SerialBlas serial;
  check(width, settings);
  const bool dense = has_dense_lift(problem.n(), settings.spectrum.method);
  const Key draws = key.child(problem.n());
  std::vector<DimensionRow> rows(settings.epsilons.size(), common_row(problem, width, dense, settings));
  for (std::size_t e = 0; e < rows.size(); ++e) rows[e].epsilon = settings.epsilons[e];
  try {
    const Problem<double> scaled(problem.Q() / width, problem.K() / width, problem.V());
    const LiftSpectrum spectrum = dense ? dense_lift_spectrum(scaled, settings.epsilons, draws)
                                        : lanczos_lift_spectrum(scaled, settings.epsilons, settings.spectrum.leading,
                                                                settings.spectrum.probes, draws);
    std::vector<Sufficient> sufficient;
    if (settings.trials > 0) {
      sufficient = search(scaled, spectrum.norm_c, dense, draws, settings);
      if (sufficient.empty()) return {};
    }
    for (std::size_t e = 0; e < rows.size(); ++e) {
      set_spectrum(rows[e], spectrum, spectrum.dimensions[e]);
      if (settings.trials > 0) set_search(rows[e], sufficient[e]);
    }
  } catch (const std::exception& failure) {
    for (DimensionRow& row : rows) row.status = reason_of(failure);
  }
  return rows;
}

Key dimension_key(std::uint64_t seed, const std::string& kind) {
  return Key(seed).child("dimension").child(kind);
}

const Columns<DimensionRow>& dimension_columns() {
  static const Columns<DimensionRow> columns = {
      {{"input", Role::key,
        "the kind of [input](inputs.md); the name of the file if there is one, and the layer and head if there are "
        "several"},
       &DimensionRow::input},
      {{"n", Role::axis, "number of tokens, without padding; the lift M has 2n points"}, &DimensionRow::n},
      {{"p", Role::subject, "width of queries and keys"}, &DimensionRow::p},
      {{"norm", Role::subject, "the root mean square norm of queries and keys"}, &DimensionRow::norm},
      {{"width", Role::curve,
        "w: the kernel has width w p^{1/4}. Halving the width has the same effect as doubling the norms"},
       &DimensionRow::width},
      {{"epsilon", Role::part, "ε", "eps"}, &DimensionRow::epsilon},
      {{"delta", Role::subject, "δ, the probability with which the theorem may fail"}, &DimensionRow::delta},
      {{"lambda", Role::number, "λ = ε ‖C‖"}, &DimensionRow::lambda},
      {{"norm_c", Role::number, "‖C‖", "||C||"}, &DimensionRow::norm_c},
      {{"norm_lift", Role::number, "‖M‖", "||M||"}, &DimensionRow::norm_lift},
      {{"stable_rank_c", Role::number, "‖C‖_F² / ‖C‖²"}, &DimensionRow::stable_rank_c},
      {{"stable_rank_lift", Role::number, "‖M‖_F² / ‖M‖²"}, &DimensionRow::stable_rank_lift},
      {{"d_stat", Role::number, "the statistical dimension trace(M (M + λI)⁻¹)"}, &DimensionRow::d_stat},
      {{"d_stat_lo", Role::number,
        "the lower end of its 95 % interval for lanczos, asymptotic as that of `cumulative` in `croquis spectrum`; the "
        "same number for dense"},
       &DimensionRow::d_stat_lo},
      {{"d_stat_hi", Role::number, "the upper end"}, &DimensionRow::d_stat_hi},
      {{"leverage_max", Role::number, "the largest leverage score l_i = (M (M + λI)⁻¹)_ii", "max l_i"},
       &DimensionRow::leverage_max},
      {{"leverage_q90", Role::number, "the 90 % quantile of the leverage scores"}, &DimensionRow::leverage_q90},
      {{"leverage_q50", Role::number, "their median"}, &DimensionRow::leverage_q50},
      {{"leverage_q10", Role::number, "their 10 % quantile"}, &DimensionRow::leverage_q10},
      {{"beta", Role::number, "min_i d_stat_lo / (2n l_i), in (0, 1]. It is 1 when all points have the same leverage"},
       &DimensionRow::beta},
      {{"d_theorem", Role::number,
        "(56/3) (d_stat_hi / β) log(4n / δ), rounded up: the number of landmarks that Skyformer's Theorem 2 asks for, "
        "with the constant that its proof gives. The theorem that `error --bounds` uses, "
        "[T9](claims/skyformer.md#theorem-2), "
        "asks for 6.52 (d_stat / β + 1) log(2n / δ), about a third where d_stat / β is large",
        "d theorem"},
       &DimensionRow::d_theorem},
      {{"d_suffices", Role::number,
        "the smallest d at which at most a fraction δ of the `trials` fails ‖C - C~‖ ≤ ε ‖C‖. Landmarks are uniform "
        "and drawn with replacement. The search runs for each draw separately, by doubling and bisection over the "
        "first d entries of a list of 2n landmarks, and takes the error to fall with d. That of the lift does; that of "
        "C, a block of it, may rise here and there, and then a smaller d suffices too. `NA` if 2n landmarks do not "
        "suffice",
        "d suffices"},
       &DimensionRow::d_suffices},
      {{"failures", Role::number, "the number of draws that fail at `d_suffices` (at 2n landmarks if that is `NA`)"},
       &DimensionRow::failures},
      {{"trials", Role::number, "the number of draws for `d_suffices`"}, &DimensionRow::trials},
      {{"failure_lo", Role::number,
        "the lower end of the 95 % Clopper-Pearson interval of the probability of failure. With 20 trials the interval "
        "reaches up to 0.32; more trials make d more certain"},
       &DimensionRow::failure_lo},
      {{"failure_hi", Role::number, "the upper end"}, &DimensionRow::failure_hi},
      {{"method", Role::note,
        "`dense`: all eigenvalues of M. `lanczos`, above n = 4096: the `--leading` largest. The contribution of the "
        "others to `d_stat` is then estimated with a 95 % interval (as in spectrum). Leverage scores are then upper "
        "bounds, up to the accuracy of the eigenvectors and if no repeated eigenvalue was missed, and `beta` and "
        "`d_theorem` err on the safe side"},
       &DimensionRow::method},
      {{"seed", Role::note, "`--seed`"}, &DimensionRow::seed},
      {{"status", Role::note, "`ok`, or the reason of a failure"}, &DimensionRow::status},
      {sequence_column(), &DimensionRow::sequence},
      {layer_column(), &DimensionRow::layer},
      {head_column(), &DimensionRow::head}};
  return columns;
}

std::vector<DimensionCurve> dimension_curves(const std::vector<DimensionRow>& rows) {
  const auto known = [](double x) { return std::isfinite(x) ? x : kUndefined; };
  std::vector<DimensionCurve> curves;
  for (const DimensionRow& row : rows) {
    if (row.status != "ok") continue;
    auto curve = std::find_if(curves.begin(), curves.end(), [&](const DimensionCurve& c) {
      return c.input == row.input && c.width == row.width && c.epsilon == row.epsilon;
    });
    if (curve == curves.end()) curve = curves.insert(curves.end(), {row.input, row.width, row.epsilon, {}, {}, {}, {}});
    curve->n.push_back(static_cast<double>(row.n));
    curve->d_stat.push_back(known(row.d_stat));
    curve->d_theorem.push_back(known(row.d_theorem));
    curve->d_suffices.push_back(known(row.d_suffices));
  }
  return curves;
}

const Columns<DimensionSummary>& dimension_summary_columns() {
  static const Columns<DimensionSummary> columns = {
      {{"input", Role::key, "the head"}, &DimensionSummary::input},
      {{"width", Role::curve, "as in the rows"}, &DimensionSummary::width},
      {{"epsilon", Role::curve, "as in the rows"}, &DimensionSummary::epsilon},
      {{"metric", Role::curve, "`d_stat`, `d_theorem` or `d_suffices`"}, &DimensionSummary::metric},
      {{"sizes", Role::number, "how many numbers of tokens the curve has"}, &DimensionSummary::sizes},
      {{"first_n", Role::number, "the first of them"}, &DimensionSummary::first_n},
      {{"last_n", Role::number, "the last of them"}, &DimensionSummary::last_n},
      {{"first", Role::number, "the metric at `first_n`"}, &DimensionSummary::first},
      {{"last", Role::number, "the metric at `last_n`"}, &DimensionSummary::last},
      {{"exponent", Role::number, "the exponent in n between the two: log(last / first) / log(last_n / first_n)"},
       &DimensionSummary::exponent}};
  return columns;
}

std::vector<DimensionSummary> summarise_dimensions(const std::vector<DimensionCurve>& curves) {
  std::vector<DimensionSummary> summaries;
  for (const DimensionCurve& c : curves) {
    const std::pair<const char*, const std::vector<double>*> metrics[] = {
        {"d_stat", &c.d_stat}, {"d_theorem", &c.d_theorem}, {"d_suffices", &c.d_suffices}};
    for (const auto& [name, values] : metrics) {
      DimensionSummary s;
      s.input = c.input;
      s.width = fmt::format("{:g}", c.width);
      s.epsilon = fmt::format("{:g}", c.epsilon);
      s.metric = name;
      s.sizes = c.n.size();
      s.first_n = static_cast<std::uint64_t>(c.n.front());
      s.last_n = static_cast<std::uint64_t>(c.n.back());
      s.first = values->front();
      s.last = values->back();
      if (c.n.size() > 1) s.exponent = std::log(s.last / s.first) / std::log(c.n.back() / c.n.front());
      summaries.push_back(std::move(s));
    }
  }
  return summaries;
}

}  // namespace croquis
