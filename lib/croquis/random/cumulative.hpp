// Draws by the inverse of a distribution function.
#pragma once

#include <armadillo>

namespace croquis {

/// The distribution of an index i of 0 ... n-1 with probability w_i / sum w, by its cumulative sums.
/// Weights are finite and >= 0, n >= 1, and their sum is finite (what callers check in their own words).
class CumulativeWeights {
 public:
  explicit CumulativeWeights(const arma::vec& weights);

  /// sum w, the last of the cumulative sums.
  double total() const { return sums_(last_); }

  /// The smallest i whose sum w_0 + ... + w_i is above u total(), for 0 <= u <= 1; for u so near to 1 that there is
  /// none, the last i with a positive weight. So no index of weight 0 is ever drawn. Cost: O(log n).
  arma::uword index_of(double u) const;

 private:
  arma::vec sums_;
  arma::uword last_;
};

}  // namespace croquis
