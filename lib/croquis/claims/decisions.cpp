#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <croquis/claims/decisions.hpp>
#include <croquis/claims/power.hpp>
#include <croquis/claims/thresholds.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/stats/intervals.hpp>
#include <stdexcept>

namespace croquis::claims {
namespace {

// What overflowed decides nothing.
void leave_undecided(Finding& finding, const std::string& what) {
  finding.verdict = Verdict::inconclusive;
  finding.hypotheses = what;
}

// The power falls as the inverse root of the draws: so many bring it to a `part` of what it is.
std::string draws_for_power(const Finding& finding, double part) {
  constexpr double most = 1e9;
  const double draws = static_cast<double>(finding.trials.value()) / (part * part);
  return draws < most ? fmt::format("draws that would decide = {:.0f}", std::ceil(draws))
                      : "draws that would decide = more than 1e9";
}

// Draws of an observed quantile, fixed beforehand: of this claim, or of all that have no number of their own. No more
// than that, however many trials a decision may take: the quantile decides nothing.
std::uint64_t quantile_draws(const Check& check) {
  const std::vector<double>* own = find_threshold(check.claim, "quantile draws");
  const auto most = static_cast<std::uint64_t>((own != nullptr ? own : find_threshold("quantile", "draws"))->front());
  return std::min(most, check.trials(most));
}

std::vector<double> values_of(const Check& check, const Key& draw_key, std::uint64_t trials,
                              const std::function<double(const Key&)>& value) {
  std::vector<double> values(trials);
  parallel_for(trials, [&](std::size_t t) {
    if (check.interrupted()) throw Interrupted();
    values[t] = value(draw_key.child(t));
  });
  return values;
}

std::uint64_t count_infinite(const std::vector<double>& values) {
  return static_cast<std::uint64_t>(
      std::count_if(values.begin(), values.end(), [](double x) { return !std::isfinite(x); }));
}

}  // namespace

void raise(double& most, double x) {
  if (std::isnan(x) || x > most) most = x;
}

void lower(double& least, double x) {
  if (std::isnan(x) || x < least) least = x;
}

Finding decide_exactly(std::string input, bool holds, double observed, double allowed) {
  Finding finding;
  finding.input = std::move(input);
  finding.verdict = holds ? Verdict::verified : Verdict::refuted;
  finding.observed = finding.estimate = observed;
  finding.bound = allowed;
  return finding;
}

Finding decide_least(std::string input, bool holds, double observed, double needed) {
  Finding finding = decide_exactly(std::move(input), holds, 0 - observed, 0 - needed);  // 0, and not -0
  finding.estimate = observed;
  return finding;
}

Finding decide_equation(std::string input, bool holds, double observed, double stated) {
  Finding finding = decide_exactly(std::move(input), holds, observed, stated);
  finding.power = 0;
  return finding;
}

void judge_trivial(Finding& finding, const std::vector<TrivialObject>& objects) {
  for (const TrivialObject& object : objects) {
    if (!(object.error <= finding.bound)) continue;
    finding.trivial += (finding.trivial.empty() ? "" : ", ") + object.name;
  }
  if (!finding.trivial.empty() && finding.verdict != Verdict::refuted) finding.verdict = Verdict::vacuous;
}

void withhold_within_error(Finding& finding) {
  const double gap = std::abs(finding.bound / finding.observed - 1);
  if (!(gap < finding.power)) return;
  leave_undecided(finding, draws_for_power(finding, gap / finding.power));
}

void withhold_without_power(Finding& finding, double told) {
  if (finding.verdict == Verdict::verified && finding.power > told) {
    leave_undecided(finding, draws_for_power(finding, told / finding.power));
  }
}

Finding not_applicable(std::string input, std::string why) {
  Finding finding;
  finding.input = std::move(input);
  finding.verdict = Verdict::not_applicable;
  finding.hypotheses = std::move(why);
  return finding;
}

void add_unless_refused(Report& report, const std::string& input, const std::function<void()>& add) {
  try {
    add();
  } catch (const std::runtime_error& refusal) {
    Finding finding;
    finding.input = input;
    leave_undecided(finding, fmt::format("refused = {}; would decide = draws that are not refused", refusal.what()));
    report.findings.push_back(std::move(finding));
  }
}

void add_measured(Finding& finding, std::string measured) {
  if (!finding.hypotheses.empty()) measured += "; " + finding.hypotheses;
  finding.hypotheses = std::move(measured);
}

double power_of_counting(std::uint64_t trials, double delta, double alpha) {
  constexpr double missed = 0.05;
  const auto n = static_cast<double>(trials);
  if (delta == 0) return 1 - std::pow(missed, 1 / n);
  // The fewest failures that refute: the lower limit grows with them.
  std::uint64_t least = 0, most = trials;
  if (!(clopper_pearson(most, trials, alpha).lo > delta)) return Finding::kNone;  // not even failures alone
  while (least < most) {
    const std::uint64_t middle = least + (most - least) / 2;
    if (clopper_pearson(middle, trials, alpha).lo > delta) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  // P(Bin(n, p) >= least) = I_p(least, n - least + 1) >= 0.95.
  return boost::math::ibeta_inv(static_cast<double>(least), n - static_cast<double>(least) + 1, 1 - missed);
}

Finding decide_identity(std::string input, double observed, double bound, double size) {
  Finding finding;
  finding.input = std::move(input);
  finding.verdict = observed <= bound ? Verdict::verified : Verdict::refuted;
  finding.bound = bound;
  finding.observed = finding.estimate = observed;
  if (size > 0) finding.power = (bound + std::abs(observed)) / size;
  if (!std::isfinite(observed) || !std::isfinite(bound)) {
    leave_undecided(finding, fmt::format("not finite: observed = {}; bound = {}", observed, bound));
  }
  return finding;
}

Finding decide_bound(std::string input, double observed, double bound) {
  Finding finding = decide_identity(std::move(input), observed, bound);
  if (finding.verdict == Verdict::verified) {
    finding.power = (bound - observed) / std::max(std::abs(bound), std::abs(observed));
  }
  return finding;
}

std::vector<double> run_trials(const Check& check, const std::string& purpose, std::uint64_t trials,
                               const std::function<double(const Key&)>& value) {
  return values_of(check, check.draw_key.child(purpose), trials, value);
}

Finding decide_probability(const Check& check, const ProbabilityClaim& claim,
                           const std::function<double(const Key&)>& error) {
  require(claim.delta >= 0 && claim.delta < 1, "decide_probability", "0 <= delta < 1", {{"delta", claim.delta}});
  const std::uint64_t most = check.trials(claim.most_trials);
  const Key draw_key = check.draw_key.child(claim.input);
  std::vector<double> errors;
  const auto failures_among = [&](std::uint64_t first, std::uint64_t count) {
    errors.resize(first + count);
    parallel_for(count, [&](std::size_t i) {
      if (check.interrupted()) throw Interrupted();
      errors[first + i] = error(draw_key.child(first + i));
    });
    return static_cast<std::uint64_t>(std::count_if(errors.begin() + static_cast<std::ptrdiff_t>(first), errors.end(),
                                                    [&](double e) { return !(e <= claim.bound); }));
  };
  Finding finding;
  finding.input = claim.input;
  double level = claim.alpha;  // of the last look that there may be
  if (claim.delta > 0) {
    FailureDecisionOptions options;
    options.delta = claim.delta;
    options.alpha = claim.alpha;
    options.max_trials = most;
    const FailureLook look = croquis::decide(options, failures_among);
    finding.verdict = croquis::verdict_of(look.outcome);
    finding.trials = look.trials;
    finding.failures = look.failures;
    finding.interval = look.interval;
    level = level_of_last_look(options);
    if (look.outcome == Outcome::undecided) {
      finding.hypotheses = look.trials_needed ? fmt::format("trials that would decide = {}", *look.trials_needed)
                                              : "trials that would decide = more than 8e9";
    }
  } else {
    finding.failures = failures_among(0, most);
    finding.trials = most;
    finding.verdict = *finding.failures == 0 ? Verdict::verified : Verdict::refuted;
    finding.interval = clopper_pearson(*finding.failures, most, claim.alpha);
  }
  finding.estimate = static_cast<double>(*finding.failures) / static_cast<double>(*finding.trials);
  finding.confidence = 1 - claim.alpha;
  finding.power = power_of_counting(most, claim.delta, level);
  finding.bound = claim.bound;
  if (claim.quantile && claim.delta > 0) {
    const std::vector<double> fresh = values_of(check, draw_key.child("quantile"), quantile_draws(check), error);
    finding.observed = quantile_of(fresh, 1 - claim.delta);
    add_measured(finding, fmt::format("draws of the quantile = {}", fresh.size()));
    errors.insert(errors.end(), fresh.begin(), fresh.end());
  } else if (claim.delta == 0) {
    finding.observed = quantile_of(errors, 1);
  }
  if (const std::uint64_t lost = count_infinite(errors); lost > 0 || !std::isfinite(claim.bound)) {
    leave_undecided(finding, fmt::format("not finite: {} of {} errors; bound = {}", lost, errors.size(), claim.bound));
  }
  return finding;
}

double distance_to_uniform(std::vector<double> values) {
  if (std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); })) return Finding::kNone;
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  double worst = 0;
  for (std::size_t t = 0; t < values.size(); ++t) {
    const auto below = static_cast<double>(t);
    worst = std::max({worst, values[t] - below / count, (below + 1) / count - values[t]});
  }
  return worst;
}

double dkw_radius(std::uint64_t count, double alpha) {
  return std::sqrt(std::log(2 / alpha) / (2 * static_cast<double>(count)));
}

Finding decide_distance(std::string input, double distance, std::uint64_t draws, double alpha) {
  constexpr double told = 0.5;
  Finding finding = decide_identity(std::move(input), distance, dkw_radius(draws, alpha));
  finding.power = power_of_distance(draws, finding.bound);
  finding.trials = draws;
  finding.confidence = 1 - alpha;
  withhold_without_power(finding, told);
  return finding;
}

double quantile_of(std::vector<double> values, double q) {
  if (values.empty()) return Finding::kNone;
  for (double& x : values) {
    if (std::isnan(x)) x = std::numeric_limits<double>::infinity();
  }
  const auto count = static_cast<double>(values.size());
  const auto rank = static_cast<std::size_t>(std::clamp(std::ceil(q * count), 1.0, count)) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
  return values[rank];
}

}  // namespace croquis::claims
