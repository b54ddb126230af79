// The lift as a low-rank factor, for thousands of Nystrom trials on it.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/random/key.hpp>

namespace skyformer {

/// M = G G^T + E with 0 <= E <= dropped I, G = U diag(values)^{1/2} of the eigenvectors of M, 2n x r. E is what a
/// pivoted Cholesky factorisation has left (its trace is known) and the eigenvalues that were cut.
class LiftFactor {
 public:
  /// Randomness: the pivots. Cost: 2n r^2 flops, 2n r kernel entries, r at most 1024: all of M for 512 tokens.
  LiftFactor(const croquis::Problem<double>& problem, const croquis::Key& draw_key);

  arma::uword n() const { return factor_.n_rows / 2; }
  arma::uword points() const { return factor_.n_rows; }
  double norm() const { return values_(0); }                   ///< ||M||
  double residual() const { return residual_; }                ///< trace of what the factorisation has left
  arma::vec leverage(double lambda) const;                     ///< l_i, exact up to residual / lambda
  arma::mat leverage_factor(double lambda, double cut) const;  ///< Psi^T without directions of weight below `cut`

  /// Eigenvalues above the e of `sufficient`, the r that its cost grows with; 2n when the factorisation has left more.
  arma::uword rank(double lambda) const;

  /// The fewest landmarks, of the infinite sequence of uniform draws of the random key, with which ||M - M~|| <=
  /// lambda: more landmarks never do worse, since the range of M~'s projection grows. `most` + 1 when that many do not
  /// suffice.
  ///
  /// With 0 <= E <= e I any weights Z give (I - SZ)^T M (I - SZ) <= (I - SZ)^T (G G^T + e I) (I - SZ), so the Nystrom
  /// error of M is at most that of G G^T + e I with the same landmarks J, which is at most
  ///   e + e ||G (G_J^T G_J + e I)^{-1} G^T||,
  /// and this is <= lambda when (lambda - e) (G_J^T G_J + e I) - e diag(values) is positive definite: one Cholesky
  /// factorisation of an r x r matrix. e = 1e-3 lambda makes the answer too large by a few percent at most.
  arma::uword sufficient(double lambda, arma::uword most, const croquis::Key& draw_key, bool queries_only) const;

 private:
  arma::mat factor_;  // U diag(values)^{1/2}, 2n x r
  arma::vec values_;  // descending
  double residual_;
};

/// The factor of the first tokens, 256 (64 in quick mode) or so few that its directions that count are at most 64: a
/// trial of a lemma on its columns is an eigenvalue problem of their number.
LiftFactor small_lift_factor(const croquis::Problem<double>& problem, bool quick, const croquis::Key& draw_key);

/// The ridge that those lemmas are checked at, and the weight below which a direction does not count.
inline double ridge_of(const LiftFactor& factor) {
  return 0.1 * factor.norm();
}
inline constexpr double kCounts = 0.2;

}  // namespace skyformer
