// The tests that checks are made of: an identity, an equation, a probability of failure.
#pragma once

#include <croquis/claims/claim.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace croquis::claims {

/// Decides a deterministic identity or inequality: VERIFIED where observed <= bound, else REFUTED. `bound` is the
/// a-priori bound on rounding errors, c n u ||.||. With `size`, the size of the quantity that the identity is about,
/// the power of the row is (bound + |observed|) / size: a formula with a larger relative error is refuted. (An
/// `observed` that is to be positive up to rounding is given as its negative.) Where `observed` or `bound` is infinite
/// or NaN, the row is INCONCLUSIVE and its `hypotheses` has both. Throws only std::bad_alloc.
Finding decide_identity(std::string input, double observed, double bound, double size = Finding::kNone);

/// decide_identity() of a bound, whose distance from what is observed is no error. The power of a VERIFIED row is the
/// part by which `bound` could be smaller; of a lower bound, with both numbers negative, by which the observed could.
Finding decide_bound(std::string input, double observed, double bound);

/// raise() sets `most` to the larger of `most` and `x`, lower() sets `least` to the smaller of `least` and `x`; NaN if
/// either is NaN. std::max, arma's max() and others pass over NaN, and decide_identity() would verify a claim by the
/// numbers that are left.
void raise(double& most, double x);
void lower(double& least, double x);

/// Decides by a counterexample, or a claim about finitely many objects, in exact arithmetic: VERIFIED if `holds`, else
/// REFUTED. Nothing is rounded; `allowed` is what the claim states and becomes Finding::bound.
Finding decide_exactly(std::string input, bool holds, double observed, double allowed);

/// decide_exactly() of a lower bound. Finding::observed and Finding::bound are `-observed` and `-needed`, as in every
/// row of a lower bound; Finding::estimate is `observed`.
Finding decide_least(std::string input, bool holds, double observed, double needed);

/// decide_exactly() of an equation. The power of the row is 0: any other formula is refuted.
Finding decide_equation(std::string input, bool holds, double observed, double stated);

/// An object that satisfies a claim without approximating anything, such as the output 0 or all points as landmarks,
/// and its error.
struct TrivialObject {
  std::string name;
  double error = 0;
};
/// Adds to Finding::trivial the names of the objects whose `error` is within the bound of the row. If there is such an
/// object, the row becomes VACUOUS, unless it is REFUTED.
void judge_trivial(Finding& finding, const std::vector<TrivialObject>& objects);

/// Makes a row INCONCLUSIVE where the two means or medians that it compares are closer than their error, so that other
/// draws may turn the verdict: where bound / observed differs from 1 by less than `power`, the relative gap that the
/// draws show (power_of_means, power_of_medians). `hypotheses` has the number of draws that would decide if this gap is
/// the true one. Needs Finding::trials.
void withhold_within_error(Finding& finding);

/// Makes a VERIFIED row INCONCLUSIVE where it could not have seen a violation: where its power is above `told`, the
/// violation that it is to see with probability 0.95. `hypotheses` has the number of draws that would see it, where the
/// power falls as the inverse root of their number. Needs Finding::trials.
void withhold_without_power(Finding& finding, double told);

/// A row of an input that the claim says nothing about: NOT_APPLICABLE, with the reason in `hypotheses`.
Finding not_applicable(std::string input, std::string why);

/// Runs `add`, which adds the findings of one input. Where numerics fail in `add` (std::runtime_error: a method refuses
/// a draw, a solver does not converge), adds an INCONCLUSIVE row of that input, with the reason and what would decide;
/// rows that are in the report stay. Throws what else add() throws: errors of the program are no finding.
void add_unless_refused(Report& report, const std::string& input, const std::function<void()>& add);

/// Puts what was measured, "name = value; ...", before the text of `hypotheses` (in an undecided row, what would
/// decide).
void add_measured(Finding& finding, std::string measured);

/// The smallest failure rate that N trials refute with probability 0.95, where a rate up to delta is allowed and the
/// lower Clopper-Pearson limit is taken at level alpha: for delta = 0, where one failure refutes, 1 - 0.05^{1/N}.
double power_of_counting(std::uint64_t trials, double delta, double alpha);

/// The claim Pr(error > bound) <= delta, which independent trials decide.
struct ProbabilityClaim {
  std::string input;
  double bound = 0;                  ///< a trial fails when its error is above
  double delta = 0.05;               ///< in [0, 1)
  double alpha = 1e-9;               ///< probability of a wrong verdict: a share of Check::alpha
  std::uint64_t most_trials = 2000;  ///< by default; Check::trials() scales it
  bool quantile = true;              ///< whether `observed` is wanted, beside the verdict
};

/// Runs error(random key of the trial) on the library's threads until FailureDecision has decided. The finding has the
/// trials, the failures, the estimate and interval of the failure rate, the bound, and as `observed` the (1 -
/// delta)-quantile of the errors of other trials. Their number is fixed (thresholds.csv: quantile) and stands in
/// `hypotheses`. (The decision's own trials would not do: where the decision stops depends on their failures.) If the
/// row is undecided, `hypotheses` has the number of trials that would decide.
///
/// The power of the row is that of the whole design, not of the look that has decided: the rate that the look at the
/// largest number of trials, at the level that is left for that look, refutes with probability 0.95. (The probability
/// that an earlier look verifies such a rate is below alpha.)
///
/// With delta = 0 (the claim that nothing fails), the number of trials is fixed; one failure refutes, and no failure in
/// all trials verifies, with the upper limit of the rate; `observed` is the largest error. Where an error or the bound
/// is infinite or NaN, the row is INCONCLUSIVE and `hypotheses` says why.
///
/// Randomness: trial t has check.draw_key.child(input).child(t), trial t of the quantile
/// check.draw_key.child(input).child("quantile").child(t).
/// Throws std::invalid_argument for delta or alpha outside their ranges, what error() throws, and Interrupted.
/// Cost: the trials; first as many as a claim without failures needs, then twice as many each time, until the claim is
///   decided. With delta = 0, all of them.
Finding decide_probability(const Check& check, const ProbabilityClaim& claim,
                           const std::function<double(const Key&)>& error);

/// The values of value(key) for the random keys check.draw_key.child(purpose).child(t), t = 0, ..., trials - 1,
/// computed on the library's threads. Throws what value() throws, and Interrupted.
std::vector<double> run_trials(const Check& check, const std::string& purpose, std::uint64_t trials,
                               const std::function<double(const Key&)>& value);

/// The largest distance between the distribution of the values and the uniform one on [0, 1] (Kolmogorov). For draws of
/// a continuous distribution give its distribution function at the draws. NaN if one of them is. Cost: a sort.
double distance_to_uniform(std::vector<double> values);

/// The value that this distance exceeds with probability at most alpha for `count` independent uniform draws:
/// sqrt(log(2 / alpha) / (2 count)), the Dvoretzky-Kiefer-Wolfowitz inequality with the constant of Massart (1990).
double dkw_radius(std::uint64_t count, double alpha);

/// Decides by distance <= dkw_radius(draws, alpha), where `distance` is distance_to_uniform() of `draws` numbers that
/// are uniform if the claim holds. The row has its power (power_of_distance). A row that would be VERIFIED is
/// INCONCLUSIVE if it could not have seen a distance of 1/2, which a number whose sign is always the same has.
Finding decide_distance(std::string input, double distance, std::uint64_t draws, double alpha);

/// The k-th smallest of the values with k = max(1, ceil(q count)); a NaN counts as infinity. NaN for no values. Cost:
/// linear in their number.
double quantile_of(std::vector<double> values, double q);

}  // namespace croquis::claims
