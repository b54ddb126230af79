// Nystrom approximations of the lift for a growing list of landmarks.
#pragma once

#include <croquis/linalg/linear_operator.hpp>
#include <croquis/nystrom/lift.hpp>
#include <memory>
#include <vector>

namespace croquis {

/// C~_d (n x n) for the first d landmarks of a list, for every d from one factorisation. The Cholesky factor of the
/// core is computed in the order of the list, so the columns of F = M(:, J) R^{-1} for a smaller d are the first
/// columns for a larger d.
/// Guarantees: a landmark adds nothing if its kernel column lies within `cutoff` of the span of the previous ones, as
///   with a pseudo-inverse. A repeated landmark is an example. M - M~_d is positive semi-definite and decreases as d
///   grows. ||C - C~_d|| is the norm of one of its blocks, and it nearly always decreases.
/// Cost: 4 n d^2 flops for all values up to d, and 2 n d kernel entries and numbers.
/// Throws: std::invalid_argument for an index that is not below 2n. Requires 0 < cutoff < 1.
class NestedNystrom {
 public:
  NestedNystrom(LiftedPoints<double> lift, arma::uvec landmarks, double cutoff);

  /// X -> C~_d X and X -> C~_d^T X. The operator may outlive this object. Do not use it while another thread requests a
  /// larger d.
  LinearOperator<double> scores(arma::uword d);
  /// The number of landmarks among the first d that added something.
  arma::uword rank(arma::uword d);

 private:
  void extend(arma::uword d);

  LiftedPoints<double> lift_;
  arma::uvec landmarks_;
  double cutoff_;
  std::shared_ptr<arma::mat> factor_ =
      std::make_shared<arma::mat>();  // 2n x capacity; ranks_.back() columns are in use
  std::vector<arma::uword> ranks_;    // ranks_[d], d = 0, 1, ...
};

}  // namespace croquis
