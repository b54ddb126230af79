// Weighted draws by the inverse of a distribution function.
#pragma once

#include <armadillo>

namespace croquis {

/// The distribution of an index i in 0 ... n-1 with probability w_i / sum w, stored as cumulative sums.
/// Requires: n >= 1 weights, finite and >= 0, with a finite sum. Callers check this, so that the message can name their
///   argument.
/// Cost: O(n) to construct.
class CumulativeWeights {
 public:
  explicit CumulativeWeights(const arma::vec& weights);

  /// The sum of all weights.
  double total() const { return sums_(last_); }

  /// The smallest i with w_0 + ... + w_i > u total(), for 0 <= u <= 1. If u is so near to 1 that there is none, the
  /// last i with a positive weight. An index of weight 0 is therefore never drawn. Cost: O(log n).
  arma::uword index_of(double u) const;

 private:
  arma::vec sums_;
  arma::uword last_;
};

}  // namespace croquis
