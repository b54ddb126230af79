// Statistical tests of sketches. Each takes a sampler, so that a mutant can be put in the place of the sketch, and
// rejects a sampler that follows the distribution with probability kFailure at most. No test is repeated.
#pragma once

#include <armadillo>
#include <croquis/random/key.hpp>
#include <functional>
#include <map>
#include <vector>

/// S of a random key.
using Sampler = std::function<arma::mat(const croquis::Key&)>;

/// The sampler of a sketch: make(random key).dense<double>().
template <typename Make>
Sampler sampler_of(Make make) {
  return [make](const croquis::Key& draw_key) { return make(draw_key).template dense<double>(); };
}

/// The sampler followed by a change of the matrix.
template <typename Change>
Sampler mutant(const Sampler& sampler, Change change) {
  return [sampler, change](const croquis::Key& draw_key) {
    arma::mat s = sampler(draw_key);
    change(s);
    return s;
  };
}

/// Mutants that any distribution of signs must reject.
Sampler scaled(const Sampler& sampler, double factor);
Sampler first_row_without_sign(const Sampler& sampler);
Sampler last_row_without_sign(const Sampler& sampler);
Sampler one_sign_key_for_all_columns(const Sampler& sampler);  ///< signs of column 0 in every column
Sampler one_sign_key_for_all_rows(const Sampler& sampler);     ///< signs of row 0 in every row
Sampler seed_that_does_not_reach_the_draw(const Sampler& sampler);
Sampler seed_that_does_not_reach_the_first_column(const Sampler& sampler);

/// The distribution of a small random matrix: its values, to six digits after the point, with their probabilities.
class MatrixDistribution {
 public:
  /// Adds to the probability of a value.
  void add(const arma::mat& s, double probability);

  /// `trials` independent draws: each value against its exact binomial distribution, kFailure / values each (union
  /// bound); any other value is a rejection.
  bool is_distribution_of(const Sampler& sampler, std::uint64_t trials) const;

  /// Random keys that are close in name: children 2t and 2t + 1 of one random key, and of seeds 2t and 2t + 1. Two
  /// independent draws are equal with probability sum p^2, so that the equal pairs are binomial: kFailure / 2 for
  /// either kind. A sampler whose places or whose signs alone are shared has more.
  bool holds_across_keys(const Sampler& sampler, std::uint64_t trials) const;

 private:
  using Value = std::vector<long long>;
  static Value value_of(const arma::mat& s);
  std::map<Value, double> probability_;
};

/// Every way to choose one value for each of `count` parts, with the product of its probabilities.
template <typename Value, typename Visit>
void for_products(const std::vector<std::pair<Value, double>>& values, std::size_t count, const Visit& visit) {
  std::vector<std::size_t> chosen(count, 0);
  for (bool done = false; !done;) {
    std::vector<Value> parts;
    double probability = 1;
    for (const std::size_t c : chosen) {
      parts.push_back(values[c].first);
      probability *= values[c].second;
    }
    visit(parts, probability);
    done = true;
    for (std::size_t& c : chosen) {
      c = c + 1 < values.size() ? c + 1 : 0;
      if (c != 0) {
        done = false;
        break;
      }
    }
  }
}

/// What is known of an entry of S S^T - I over the distribution: its variance, and a number that its size never
/// exceeds. Both 0: it is zero in every draw, up to rounding.
struct SecondMoment {
  arma::mat variance, bound;
  /// One pair of numbers on the diagonal and one off it.
  SecondMoment(arma::uword n, double diagonal_variance, double diagonal_bound, double other_variance,
               double other_bound);
};

/// E[S S^T] = I in every entry, the first and the last included. The mean of T draws with variance v and size at most b
/// is beyond e with probability at most 2 exp(-T e^2 / (2 (v + b e / 3))) (Bernstein); each of the n (n + 1) / 2
/// entries has its e for an equal share of kFailure. About half of the samplers that are off by e in one entry are
/// rejected.
bool second_moment_is_identity(const Sampler& sampler, const SecondMoment& moment, std::uint64_t trials);
/// That e.
double detectable(double variance, double bound, double entries, std::uint64_t trials);

/// Entries that are not zero with probability p, whose sign is fair whatever else is known: over the trials each entry
/// has Binomial(trials, p) nonzeros N and Binomial(N, 1/2) positive ones. 2 n d tests share kFailure.
bool entries_follow(const Sampler& sampler, double p, std::uint64_t trials);

/// One long draw with rows independent, entries not zero with probability p, signs independent and fair. For every
/// column: nonzeros Binomial(n, p), positive ones of them Binomial(., 1/2); over disjoint pairs of rows at each lag,
/// both nonzero Binomial(pairs, p^2), equal signs of those Binomial(., 1/2). For every two columns: equal signs where
/// both are nonzero Binomial(., 1/2). All share kFailure.
bool long_draw_follows(const Sampler& sampler, const croquis::Key& draw_key, double p,
                       const std::vector<arma::uword>& lags);
