// The tests that checks are made of: an identity, an equation, a probability of failure.
#pragma once

#include <croquis/claims/claim.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace croquis::claims {

/// observed <= bound for a deterministic identity or inequality. `bound` is the a-priori bound on rounding errors, c n
/// u ||.||. With `size`, the size of the quantity that the identity is about, the power of the row is (bound +
/// |observed|) / size: a formula with a larger relative error is refuted. (An `observed` of an inequality may be
/// negative.)
/// Infinite or NaN numbers: INCONCLUSIVE, and `hypotheses` has them.
/// Throws only std::bad_alloc.
Finding decide_identity(std::string input, double observed, double bound, double size = Finding::kNone);

/// Makes `most` the larger one of the two, and `least` the smaller one; NaN if either is. std::max, arma's max() and
/// others pass over NaN, and decide_identity() would verify a claim by the numbers that are left.
void raise(double& most, double x);
void lower(double& least, double x);

/// A counterexample, or a claim about finitely many objects, in exact arithmetic: no rounding, no bound.
Finding decide_exactly(std::string input, bool holds, double observed, double allowed);

/// decide_exactly() of an equation. Its power is 0: any other formula is refuted.
Finding decide_equation(std::string input, bool holds, double observed, double stated);

/// Makes a row that is not REFUTED VACUOUS when `error` of a trivial object is within the bound of the row;
/// Finding::trivial names these objects.
struct TrivialObject {
  std::string name;
  double error = 0;
};
void judge_trivial(Finding& finding, const std::vector<TrivialObject>& objects);

/// INCONCLUSIVE where two means are closer than their error: where bound / observed is less than `power`, the relative
/// gap that the draws show (power_of_means), away from 1, and other draws may turn the verdict. `hypotheses` has the
/// number of draws that would decide if this gap is the true one. Needs `trials`.
void withhold_within_error(Finding& finding);

/// INCONCLUSIVE where a row that nothing refutes could not have told: where its power is above `told`, the violation
/// that it is to see with probability 0.95. `hypotheses` has the number of draws that would see it, with a power that
/// falls as their inverse root. Needs `trials`.
void withhold_without_power(Finding& finding, double told);

/// A row of an input that the claim says nothing about: NOT_APPLICABLE, with the reason in `hypotheses`.
Finding not_applicable(std::string input, std::string why);

/// Runs `add`, which adds the findings of one input. Where numerics fail in it (std::runtime_error: a method refuses a
/// draw, a solver does not converge), a row of that input is INCONCLUSIVE, with the reason and what would decide, and
/// the rows of other inputs are kept. Throws what else add() throws: errors of the program are no finding.
void add_unless_refused(Report& report, const std::string& input, const std::function<void()>& add);

/// Puts what was measured, "name = value; ...", before what `hypotheses` has: of an undecided row, what would decide.
void add_measured(Finding& finding, std::string measured);

/// The smallest failure rate that N trials refute with probability 0.95, where a rate up to delta is allowed and the
/// lower Clopper-Pearson limit is taken at level alpha: for delta = 0, where one failure refutes, 1 - 0.05^{1/N}.
double power_of_counting(std::uint64_t trials, double delta, double alpha);

/// Pr(error > bound) <= delta, from independent trials.
struct ProbabilityClaim {
  std::string input;
  double bound = 0;                  ///< a trial fails when its error is above
  double delta = 0.05;               ///< in [0, 1)
  double alpha = 1e-9;               ///< of a wrong verdict: a share of Check::alpha
  std::uint64_t most_trials = 2000;  ///< by default; Check::trials() scales it
  bool quantile = true;              ///< whether `observed` is wanted, beside the verdict
};

/// Runs error(random key of the trial) on the library's threads until FailureDecision has decided. The finding has the
/// trials, the failures, the estimate and interval of the failure rate, the bound, and as `observed` the (1 -
/// delta)-quantile of the errors of other trials. Their number is fixed (thresholds.csv: quantile), and in
/// `hypotheses`: where the decision stops depends on its failures, and so does a quantile of its own trials. If
/// undecided, `hypotheses` has the number of trials that would decide.
/// Its power is that of the whole design, and not of the look that has decided: the rate that the look at the largest
/// number of trials, at the level that is left for it, refutes with probability 0.95. (A look before it that verifies
/// such a rate has a probability below alpha.)
/// With delta = 0 (never fails), one failure refutes; no failure in all trials verifies, with the upper limit of the
/// rate. Their number is fixed, and `observed` is the largest error. An infinite or NaN error or bound: INCONCLUSIVE,
/// and `hypotheses` says why.
/// Randomness: trial t has check.draw_key.child(input).child(t), trial t of the quantile
/// check.draw_key.child(input).child("quantile").child(t).
/// Throws std::invalid_argument for delta or alpha outside their ranges, what error() throws, and Interrupted.
/// Cost: the trials; first as many as a claim without failures needs, then twice as many each time, until it is
///   decided.
Finding decide_probability(const Check& check, const ProbabilityClaim& claim,
                           const std::function<double(const Key&)>& error);

/// value(0), ..., value(trials - 1) of the random keys check.draw_key.child(purpose).child(t), on the library's
/// threads. Throws what value() throws, and Interrupted.
std::vector<double> run_trials(const Check& check, const std::string& purpose, std::uint64_t trials,
                               const std::function<double(const Key&)>& value);

/// The largest distance between the distribution of the values and the uniform one on [0, 1] (Kolmogorov). For draws of
/// a continuous distribution give its distribution function at the draws. NaN if one of them is. Cost: a sort.
double distance_to_uniform(std::vector<double> values);

/// The value that this distance exceeds with probability at most alpha for `count` independent uniform draws:
/// sqrt(log(2 / alpha) / (2 count)), the Dvoretzky-Kiefer-Wolfowitz inequality with the constant of Massart (1990).
double dkw_radius(std::uint64_t count, double alpha);

/// distance_to_uniform() of numbers that are uniform where the claim holds against dkw_radius(), with its power
/// (power_of_distance). Where nothing refutes it, the row is INCONCLUSIVE if it could not tell a distance of 1/2, that
/// of a number whose sign is always the same.
Finding decide_distance(std::string input, double distance, std::uint64_t draws, double alpha);

/// The k-th smallest of the values with k = max(1, ceil(q count)); a NaN counts as infinity. NaN for no values. Cost:
/// linear in their number.
double quantile_of(std::vector<double> values, double q);

}  // namespace croquis::claims
