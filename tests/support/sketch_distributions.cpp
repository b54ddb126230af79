#include "support/sketch_distributions.hpp"

#include <cmath>

#include "support/seed.hpp"
#include "support/statistics.hpp"

using croquis::Key;

namespace {

// Of no trials there is nothing to say; with probability 1 all succeed.
bool follows(double successes, double trials, double probability, double failure) {
  if (trials == 0 || probability == 1) return successes == trials;
  return is_binomial(successes, trials, probability, failure);
}

}  // namespace

Sampler scaled(const Sampler& sampler, double factor) {
  return mutant(sampler, [factor](arma::mat& s) { s *= factor; });
}

Sampler first_row_without_sign(const Sampler& sampler) {
  return mutant(sampler, [](arma::mat& s) { s.row(0) = arma::abs(s.row(0)); });
}

Sampler last_row_without_sign(const Sampler& sampler) {
  return mutant(sampler, [](arma::mat& s) { s.tail_rows(1) = arma::abs(s.tail_rows(1)); });
}

// A sign must be there also where column (or row) 0 has a zero: + there.
Sampler one_sign_key_for_all_columns(const Sampler& sampler) {
  return mutant(sampler, [](arma::mat& s) {
    const arma::vec signs = 1 - 2 * arma::conv_to<arma::vec>::from(s.col(0) < 0);
    for (arma::uword j = 0; j < s.n_cols; ++j) s.col(j) = arma::abs(s.col(j)) % signs;
  });
}

Sampler one_sign_key_for_all_rows(const Sampler& sampler) {
  return mutant(sampler, [](arma::mat& s) {
    const arma::rowvec signs = 1 - 2 * arma::conv_to<arma::rowvec>::from(s.row(0) < 0);
    for (arma::uword i = 0; i < s.n_rows; ++i) s.row(i) = arma::abs(s.row(i)) % signs;
  });
}

Sampler seed_that_does_not_reach_the_draw(const Sampler& sampler) {
  return [sampler](const Key&) { return sampler(Key(test_seed())); };
}

Sampler seed_that_does_not_reach_the_first_column(const Sampler& sampler) {
  return mutant(sampler, [sampler](arma::mat& s) { s.col(0) = sampler(Key(test_seed())).col(0); });
}

MatrixDistribution::Value MatrixDistribution::value_of(const arma::mat& s) {
  Value value;
  for (const double x : s) value.push_back(std::llround(x * 1e6));
  return value;
}

void MatrixDistribution::add(const arma::mat& s, double probability) {
  probability_[value_of(s)] += probability;
}

bool MatrixDistribution::is_distribution_of(const Sampler& sampler, std::uint64_t trials) const {
  const Key root = Key(test_seed()).child("joint law");
  std::map<Value, double> count;
  for (std::uint64_t t = 0; t < trials; ++t) {
    const Value value = value_of(sampler(root.child(t)));
    if (probability_.find(value) == probability_.end()) return false;
    ++count[value];
  }
  std::vector<double> counts, probabilities;
  for (const auto& [value, probability] : probability_) {
    counts.push_back(count[value]);
    probabilities.push_back(probability);
  }
  return counts_follow(counts, probabilities, kFailure);
}

bool MatrixDistribution::holds_across_keys(const Sampler& sampler, std::uint64_t trials) const {
  double squares = 0;
  for (const auto& [value, probability] : probability_) squares += probability * probability;
  const Key root = Key(test_seed()).child("across");
  double children = 0, seeds = 0;
  for (std::uint64_t t = 0; t < trials; ++t) {
    children += value_of(sampler(root.child(2 * t))) == value_of(sampler(root.child(2 * t + 1)));
    const std::uint64_t seed = test_seed() + 2 * t;
    seeds += value_of(sampler(Key(seed))) == value_of(sampler(Key(seed + 1)));
  }
  const auto n = static_cast<double>(trials);
  return is_binomial(children, n, squares, kFailure / 2) && is_binomial(seeds, n, squares, kFailure / 2);
}

SecondMoment::SecondMoment(arma::uword n, double diagonal_variance, double diagonal_bound, double other_variance,
                           double other_bound)
    : variance(n, n), bound(n, n) {
  variance.fill(other_variance);
  variance.diag().fill(diagonal_variance);
  bound.fill(other_bound);
  bound.diag().fill(diagonal_bound);
}

double detectable(double variance, double bound, double entries, std::uint64_t trials) {
  const double log_term = std::log(2 * entries / kFailure), t = static_cast<double>(trials);
  const double linear = bound * log_term / 3;
  return (linear + std::sqrt(linear * linear + 2 * t * variance * log_term)) / t;
}

bool second_moment_is_identity(const Sampler& sampler, const SecondMoment& moment, std::uint64_t trials) {
  const arma::uword n = moment.variance.n_rows;
  const Key root = Key(test_seed()).child("second moment");
  arma::mat sum(n, n, arma::fill::zeros);
  for (std::uint64_t t = 0; t < trials; ++t) {
    const arma::mat s = sampler(root.child(t));
    sum += s * s.t();
  }
  const double entries = static_cast<double>(n * (n + 1)) / 2;
  for (arma::uword i = 0; i < n; ++i) {
    for (arma::uword k = 0; k <= i; ++k) {
      const double mean = sum(i, k) / static_cast<double>(trials) - (i == k ? 1 : 0);
      const double rounding = 1e-10;  // of sums of at most 1e6 terms of order 1
      if (!(std::abs(mean) <= detectable(moment.variance(i, k), moment.bound(i, k), entries, trials) + rounding)) {
        return false;
      }
    }
  }
  return true;
}

bool entries_follow(const Sampler& sampler, double p, std::uint64_t trials) {
  const Key root = Key(test_seed()).child("entries");
  arma::mat nonzero, positive;
  for (std::uint64_t t = 0; t < trials; ++t) {
    const arma::mat s = sampler(root.child(t));
    if (t == 0) nonzero = positive = arma::mat(arma::size(s), arma::fill::zeros);
    for (arma::uword e = 0; e < s.n_elem; ++e) {
      nonzero(e) += s(e) != 0;
      positive(e) += s(e) > 0;
    }
  }
  const double share = kFailure / (2 * static_cast<double>(nonzero.n_elem));
  for (arma::uword e = 0; e < nonzero.n_elem; ++e) {
    if (!follows(nonzero(e), static_cast<double>(trials), p, share)) return false;
    if (!follows(positive(e), nonzero(e), 0.5, share)) return false;
  }
  return true;
}

bool long_draw_follows(const Sampler& sampler, const Key& draw_key, double p, const std::vector<arma::uword>& lags) {
  const arma::mat s = sampler(draw_key);
  const auto d = static_cast<double>(s.n_cols);
  const double tests = d * (2 + 2 * static_cast<double>(lags.size())) + d * (d - 1) / 2;
  const double share = kFailure / tests;
  for (arma::uword j = 0; j < s.n_cols; ++j) {
    double nonzero = 0, positive = 0;
    for (arma::uword i = 0; i < s.n_rows; ++i) {
      nonzero += s(i, j) != 0;
      positive += s(i, j) > 0;
    }
    if (!follows(nonzero, static_cast<double>(s.n_rows), p, share)) return false;
    if (!follows(positive, nonzero, 0.5, share)) return false;
    for (const arma::uword lag : lags) {
      double pairs = 0, both = 0, equal = 0;
      for (arma::uword i = 0; i + lag < s.n_rows; i += i % (2 * lag) == lag - 1 ? lag + 1 : 1) {
        const double product = s(i, j) * s(i + lag, j);
        ++pairs;
        both += product != 0;
        equal += product > 0;
      }
      if (!follows(both, pairs, p * p, share) || !follows(equal, both, 0.5, share)) return false;
    }
    for (arma::uword other = 0; other < j; ++other) {
      const arma::vec product = s.col(j) % s.col(other);
      const auto equal = static_cast<double>(arma::accu(product > 0)),
                 both = static_cast<double>(arma::accu(product != 0));
      if (!follows(equal, both, 0.5, share)) return false;
    }
  }
  return true;
}
