// The lift as a low-rank factor, for thousands of Nystrom trials on it.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <croquis/random/key.hpp>

namespace croquis::claims {

/// M = G G^T + E with 0 <= E <= e I and G = U diag(values)^{1/2}, 2n x r. M is the lift: the Gaussian kernel matrix of
/// queries and keys (nystrom/lift.hpp); values and U are eigenvalues and eigenvectors of its pivoted Cholesky
/// approximation. E is the residual of that approximation, whose trace is known, and the eigenvalues that are dropped.
class LiftFactor {
 public:
  /// Randomness: the pivots of rp_cholesky(). Cost: of the order of n r^2 + r^3 flops, and 2n r kernel entries, where r
  /// is at most min(2n, 1024): up to 512 tokens this can be all of M. Throws std::runtime_error when the eigenvalue
  /// solver fails.
  LiftFactor(const Problem<double>& problem, const Key& draw_key);

  arma::uword n() const { return factor_.n_rows / 2; }
  arma::uword points() const { return factor_.n_rows; }
  double norm() const { return values_(0); }     ///< ||M||, at most residual() too small
  double residual() const { return residual_; }  ///< trace of M less the approximation

  /// The ridge leverage scores l_i = (M (M + lambda I)^{-1})_ii of the 2n points, exact up to residual / lambda.
  /// Throws std::invalid_argument unless lambda > 0. Cost: 2n r.
  arma::vec leverage(double lambda) const;

  /// Psi^T, r' x 2n, Psi = M^{1/2} (M + lambda I)^{-1/2} in the eigenvectors of M, without directions whose weight
  /// value / (value + lambda) is below `cut`: the squared norm of column i is at most l_i.
  /// Throws std::invalid_argument unless lambda > 0. Cost: 2n r'.
  arma::mat leverage_factor(double lambda, double cut) const;

  /// Number of eigenvalues above e / 2, e as in sufficient(), whose cost grows with it; 2n when the residual is above e
  /// / 2.
  arma::uword rank(double lambda) const;

  /// The smallest number d for which the first d of an infinite sequence of uniform draws are landmarks with ||M - M~||
  /// <= lambda. More landmarks never do worse, since the range of M~'s projection grows. `most` + 1 when that many do
  /// not suffice. `queries_only`: the draws are of the n queries, not of all 2n points.
  ///
  /// With 0 <= E <= e I any weights Z give (I - SZ)^T M (I - SZ) <= (I - SZ)^T (G G^T + e I) (I - SZ), so the Nystrom
  /// error of M is at most that of G G^T + e I with the same landmarks J, which is at most
  ///   e + e ||G (G_J^T G_J + e I)^{-1} G^T||,
  /// and this is <= lambda when (lambda - e) (G_J^T G_J + e I) - e diag(values) is positive definite: one Cholesky
  /// factorisation of an r x r matrix. e = 1e-3 lambda makes the answer too large by a few percent in practice.
  ///
  /// Throws std::invalid_argument when the factor is not as good as e: rank(lambda) is 2n then.
  /// Cost: about 2 log2(answer) times d r^2 + r^3 / 3 flops, r = rank(lambda).
  arma::uword sufficient(double lambda, arma::uword most, const Key& draw_key, bool queries_only) const;

 private:
  arma::mat factor_;  // U diag(values)^{1/2}, 2n x r
  arma::vec values_;  // descending
  double residual_;
};

}  // namespace croquis::claims
