// Hypothesis tests. Each returns the statistic and its p-value: reject when p_value <= alpha.
#pragma once

#include <croquis/stats/intervals.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace croquis {

/// p_value is the probability, under the hypothesis, of a statistic at least as far out.
struct TestResult {
  double statistic = 0;
  double p_value = 1;
};

struct KolmogorovSmirnovResult : TestResult {
  double p_bound = 1;  ///< an upper bound of p_value that no approximation enters: reject by it when alpha is tiny
};

struct ChiSquaredResult : TestResult {
  std::size_t cells = 0;  ///< after pooling
  double degrees = 0;     ///< cells - 1 - estimated
};

/// D = sup_x |F_n(x) - F(x)| of independent draws against the distribution with distribution function F.
///
/// Guarantees: p_value by kolmogorov_tail; p_bound by the Dvoretzky-Kiefer-Wolfowitz inequality. F must be continuous
///   and given beforehand: with parameters fitted to the same sample the p-values are far too large.
/// Throws std::invalid_argument for an empty sample, NaN, and an F that leaves [0, 1] or decreases (by more
///   than 1e-9).
KolmogorovSmirnovResult kolmogorov_smirnov_test(std::vector<double> sample,
                                                const std::function<double(double)>& distribution);

/// D = sup_x |F_m(x) - G_n(x)| of two independent samples, against one distribution for both.
///
/// Guarantees: p_value by two_sample_kolmogorov_tail; too large, never too small, when the samples have ties.
///   p_bound = min over a + b = D of 2 exp(-2 m a^2) + 2 exp(-2 n b^2), taken at a : b = n^(1/2) : m^(1/2).
/// Throws std::invalid_argument for an empty sample and NaN.
KolmogorovSmirnovResult kolmogorov_smirnov_test(std::vector<double> first, std::vector<double> second);

/// X^2 = sum (counts - expected)^2 / expected, expected = n probabilities, against chi^2 with cells - 1 - estimated
/// degrees of freedom; `estimated` is the number of parameters that were fitted to the counts.
///
/// Pooling: cells whose expectation is below `least_expected` are joined in the order of their index until the joined
///   cell reaches it; what is left at the end joins the last such cell, or the cell with the smallest expectation when
///   there is none. The rule does not look at the counts.
/// Guarantees: asymptotic. With 5 expected a cell it is good for p-values down to some 1e-3; for tiny alpha use
///   multinomial_test. A count in a cell of probability zero gives p_value = 0.
/// Throws std::invalid_argument unless sizes match, there is a count, probabilities are >= 0 with sum 1 (to 1e-9), and
///   at least one degree of freedom is left.
ChiSquaredResult chi_squared_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities,
                                  double least_expected = 5, std::size_t estimated = 0);

/// min(1, cells * min_i p_i), p_i the binomial_test of cell i; the statistic is min_i p_i.
/// Guarantees: rejects with probability at most alpha for every n, every alpha (exact binomial distributions and the
///   union bound).
/// Throws as chi_squared_test.
TestResult multinomial_test(std::span<const std::uint64_t> counts, std::span<const double> probabilities);

/// z = (mean - mu) sqrt(n) / sigma against N(0, 1), for a distribution with known mean mu and standard deviation sigma.
/// Side::upper counts only a mean that is too large as evidence, Side::lower only one that is too small.
/// Guarantees: exact for normal values; for others asymptotic.
/// Throws std::invalid_argument unless n >= 1, sigma > 0 and all are finite.
TestResult z_test(double mean, std::uint64_t n, double mu, double sigma, Side side = Side::both);

/// Number of successes against Bin(trials, probability); the statistic is successes / trials.
/// Guarantees: P(X >= k) for Side::upper, P(X <= k) for Side::lower, min(1, 2 * the smaller one) for both: the test
///   whose acceptance is the interval of clopper_pearson. Rejects with probability at most alpha.
/// Throws std::invalid_argument unless successes <= trials, trials >= 1 and 0 <= probability <= 1.
TestResult binomial_test(std::uint64_t successes, std::uint64_t trials, double probability, Side side = Side::both);

}  // namespace croquis
