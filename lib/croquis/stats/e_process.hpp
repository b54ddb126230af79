// Sequential tests of the mean of bounded losses, valid after every observation: e-processes by betting.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace croquis {

/// The null hypothesis about the mean that is bet against: a large wealth is evidence that it is false.
enum class NullHypothesis { mean_at_least, mean_at_most };

/// The wealth of somebody who starts with 1 and bets against "the mean of the losses is at least (at most) delta".
///
/// Losses x_1, x_2, ... are in [0, 1]; a failure that happens or not has 1 or 0. The wealth after t of them is
///   E_t = sum_r w_r prod_{s <= t} ((1 - r) / (1 - delta) (1 - x_s) + r / delta x_s),
/// a mixture over means r on the other side of delta with weights w_r that sum to 1. For losses that are 0 or 1 a term
/// is the likelihood ratio of r against delta. Against mean_at_least, w is 0.3 at r = 0 and 0.7 on kPoints equally
/// spaced r in (0, delta); against mean_at_most it is on kPoints of them in (delta, 1).
///
/// Guarantees: if the mean of each loss, given those before it, is at least (at most) delta, E_t is a supermartingale
///   that starts at 1, and P(E_t >= 1 / alpha for some t) <= alpha (Ville 1939). So it may be looked at after every
///   loss and stopped at any time. It does not matter how losses are distributed beyond that, or whether later ones are
///   observed only because of earlier ones.
/// Cost: O(kPoints) a loss.
class MeanBet {
 public:
  static constexpr int kPoints = 32;

  /// Throws std::invalid_argument unless 0 < delta < 1 and 1 / delta is finite.
  MeanBet(NullHypothesis null, double delta);

  /// Throws std::invalid_argument unless 0 <= loss <= 1.
  void add(double loss);

  /// The smallest number of further losses after which log E_t reaches `log_wealth` if losses go on as so far: each
  /// adds to the logarithm of a term what those before it have added on average; if there were none, what a loss of 0
  /// adds. Empty if it is never reached, or only after more than 2^40 losses (from none, 2^52).
  std::optional<std::uint64_t> losses_until(double log_wealth) const;

  double log_wealth() const { return log_wealth_; }                   ///< log E_t
  double log_largest() const { return log_largest_; }                 ///< log of the largest of E_0, ..., E_t
  std::uint64_t count() const { return count_; }                      ///< t
  double mean() const { return sum_ / static_cast<double>(count_); }  ///< of the losses, NaN for none

 private:
  double delta_;
  std::vector<double> means_, initial_, logs_;  // r, the logarithms of w_r, and those of w_r times its product
  double log_wealth_ = 0, log_largest_ = 0, sum_ = 0;
  std::uint64_t count_ = 0;
};

/// The upper end of a confidence interval for the mean: the largest delta whose MeanBet against mean_at_least never
/// reaches 1 / alpha on these losses, in their order; 1 if there is none.
/// Guarantees: at least the mean with probability 1 - alpha, simultaneously after every loss. (The wealth is monotone
///   in delta, so the set of deltas that are not rejected is an interval.) Found by bisection to 1e-6, from above.
/// Throws: std::invalid_argument unless 0 < alpha < 1 and losses are in [0, 1].
double mean_upper_limit(const std::vector<double>& losses, double alpha);

/// The smallest number of losses, all of them 0, after which the wealth against mean_at_least reaches 1 / alpha. With
/// fewer losses it cannot be shown that the mean is below delta. 2^52 where more are needed, for delta below about
/// 1e-15. Throws: std::invalid_argument unless 0 < delta < 1 and 0 < alpha < 1.
std::uint64_t losses_to_show(double delta, double alpha);

}  // namespace croquis
