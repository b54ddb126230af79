// A head so small that thousands of draws tell whether a method's sums, before they are divided, are unbiased.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/attention/problem.hpp>

#include "support/attention.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"
#include "support/thread_count.hpp"

class UnnormalisedSums {
 public:
  static constexpr std::uint64_t kDraws = 12000;

  /// n tokens with p = 3 and p_v = 2; entries of Q and K have this standard deviation, those of V are between 0 and 1.
  UnnormalisedSums(arma::uword n, double deviation)
      : problem(deviation * random_matrix(n, 3, croquis::Key(6)), deviation * random_matrix(n, 3, croquis::Key(7)),
                arma::clamp(arma::abs(random_matrix(n, 2, croquis::Key(8))), 0, 1)),
        weights_(logits_of(problem.Q(), problem.K())) {
    for (long double& e : weights_.entries) e = std::exp(e);
    exact = weights_ * Dense(arma::join_rows(problem.V(), arma::mat(n, 1, arma::fill::ones)));
  }

  /// The mean over kDraws draws of what a method has for `exact`; draw(key) is an approximation of the problem.
  template <typename Draw>
  arma::mat mean_of(const Draw& draw) const {
    const ThreadCount one(1);  // many small problems
    arma::mat mean(problem.n_q(), 3, arma::fill::zeros);
    for (std::uint64_t t = 0; t < kDraws; ++t) {
      const croquis::Approximation<double> found = draw(croquis::Key(test_seed()).child("unbiased").child(t));
      const arma::vec sums = found.denominators->values % arma::exp(found.denominators->log_scale);
      mean += arma::join_rows(arma::diagmat(sums) * found.output, sums) / double(kDraws);
    }
    return mean;
  }

  /// Hoeffding's bound for entries of `means` such means of numbers between 0 and n times the largest term: one is
  /// farther from `exact` with probability kFailure at most.
  double bound(int means = 1) const {
    const double range = double(problem.n_k()) * double(largest_entry_of(weights_));
    return range * std::sqrt(std::log(2 * means * 3 * double(problem.n_q()) / kFailure) / (2 * double(kDraws)));
  }

  croquis::Problem<double> problem;
  Dense exact;  ///< exp(q.k / sqrt(p)) times [V, 1]: n x 3

 private:
  Dense weights_;
};
