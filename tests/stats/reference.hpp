// Samples, and binomial distributions by summation in long double: what the statistics are compared with.
#pragma once

#include <cmath>
#include <croquis/random/draws.hpp>
#include <croquis/stats/accumulator.hpp>
#include <cstdint>
#include <vector>

/// count independent N(0,1).
inline std::vector<double> normal_sample(std::size_t count, const croquis::Key& key) {
  std::vector<double> z(count);
  croquis::fill_normal(key, 0, count, z.data());
  return z;
}

/// count independent uniform numbers in (0,1), multiples of 2^-32 and a half.
inline std::vector<double> uniform_sample(std::size_t count, const croquis::Key& key) {
  std::vector<double> u(count);
  for (std::size_t i = 0; i < count; ++i) u[i] = (key.block(i)[0] + 0.5) * 0x1p-32;
  return u;
}

/// Exponential with mean 1.
inline std::vector<double> exponential_sample(std::size_t count, const croquis::Key& key) {
  std::vector<double> x = uniform_sample(count, key);
  for (double& value : x) value = -std::log(value);
  return x;
}

/// 0 and 1, 1 with probability p.
inline std::vector<double> bernoulli_sample(std::size_t count, double p, const croquis::Key& key) {
  std::vector<double> x = uniform_sample(count, key);
  for (double& value : x) value = value < p ? 1 : 0;
  return x;
}

inline croquis::Accumulator accumulated(const std::vector<double>& sample) {
  croquis::Accumulator moments;
  for (const double x : sample) moments.add(x);
  return moments;
}

/// P(Bin(n, p) = k) for k = 0 ... n, each by products of its n factors; for n below 10,000 and p in [0, 1].
inline std::vector<long double> binomial_probabilities(std::uint64_t n, long double p) {
  std::vector<long double> distribution(n + 1, 0.0L);
  for (std::uint64_t k = 0; k <= n; ++k) {
    // Factors above and below 1 in turn, so that the product stays in range.
    const std::uint64_t few = k < n - k ? k : n - k;
    long double product = 1;
    std::uint64_t successes = k, failures = n - k;
    for (std::uint64_t i = 1; i <= few; ++i) {
      product *= static_cast<long double>(n - few + i) / static_cast<long double>(i);
      while (product > 1 && successes + failures > 0) product *= successes > 0 ? (--successes, p) : (--failures, 1 - p);
    }
    distribution[k] = product * std::pow(p, static_cast<long double>(successes)) *
                      std::pow(1 - p, static_cast<long double>(failures));
  }
  return distribution;
}

/// P(Bin(n, p) <= k) and P(Bin(n, p) >= k), smallest terms first.
inline long double binomial_at_most(std::uint64_t k, std::uint64_t n, long double p) {
  const std::vector<long double> distribution = binomial_probabilities(n, p);
  long double sum = 0;
  for (std::uint64_t i = 0; i <= k; ++i) sum += distribution[i];
  return sum;
}

inline long double binomial_at_least(std::uint64_t k, std::uint64_t n, long double p) {
  const std::vector<long double> distribution = binomial_probabilities(n, p);
  long double sum = 0;
  for (std::uint64_t i = n + 1; i-- > k;) sum += distribution[i];
  return sum;
}

/// Events of probability at most p, each: false with probability at most `failure`.
inline bool no_more_than(std::uint64_t events, std::uint64_t trials, double p, double failure) {
  return binomial_at_least(events, trials, p) > failure;
}
