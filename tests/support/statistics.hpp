// Statistical tests that hold for finite samples. Each takes `failure`, the largest probability with which it rejects
// a sample that follows the distribution.
#pragma once

#include <vector>

/// One draw of N(0,1): |z| at most the quantile of failure / 2.
bool is_standard_normal(double z, double failure);

/// One draw of chi-squared with so many degrees of freedom, between the quantiles of failure / 2 and 1 - failure / 2.
bool is_chi_squared(double x, double degrees, double failure);

/// One draw of Binomial(trials, probability), by its exact tails.
bool is_binomial(double successes, double trials, double probability, double failure);

/// Counts of a multinomial: every cell against its exact binomial distribution, with failure / cells each (union
/// bound).
bool counts_follow(const std::vector<double>& counts, const std::vector<double>& probabilities, double failure);

/// An independent sample of N(0,1): sup |F_n - F| by the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant,
/// P(sup > e) <= 2 exp(-2 n e^2) for every n; then its mean, exactly N(0, 1/n), and its sum of squares, exactly
/// chi-squared. A third of `failure` each.
bool sample_is_normal(std::vector<double> sample, double failure);

/// Independence of two samples of N(0,1): x.y / |x| is exactly N(0,1) when they are.
bool samples_are_uncorrelated(const std::vector<double>& x, const std::vector<double>& y, double failure);
