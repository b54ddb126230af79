// Nystrom approximations of the lift for a growing list of landmarks.
#pragma once

#include <croquis/linalg/linear_operator.hpp>
#include <croquis/nystrom/lift.hpp>
#include <memory>
#include <vector>

namespace croquis {

/// C~_d for the first d landmarks of a list, for every d from one factorisation: the factor F = M(:, J) R^{-1}, with
/// the Cholesky factor R of the core in the order of the list. The F of a smaller d is its first columns.
/// Guarantees: a landmark i with (M - M~)_ii <= `cutoff` for the landmarks before it, such as a repeated one, adds
///   nothing, as with a pseudo-inverse. M - M~_d is positive semi-definite and decreases as d grows. ||C - C~_d||, the
///   error of one of its blocks, nearly always decreases too.
/// Cost: with N = n_q + n_k, and d rounded up to a multiple of 64, N d^2 flops for all numbers of landmarks up to d,
///   besides N d kernel entries. F has fewer than 2 d columns of N numbers, as its capacity is doubled, and while it
///   grows the old and the new one have fewer than 3 d.
class NestedNystrom {
 public:
  /// Throws std::invalid_argument unless 0 < cutoff < 1 and every index is below n_q + n_k.
  NestedNystrom(LiftedPoints<double> lift, arma::uvec landmarks, double cutoff);

  /// X -> C~_d X and X -> C~_d^T X. The operator may outlive this object. Do not use it while another thread requests a
  /// larger d. Throws std::invalid_argument if there are fewer than d landmarks.
  LinearOperator<double> scores(arma::uword d);
  /// The number of landmarks among the first d that added a column to F. Throws as scores().
  arma::uword rank(arma::uword d);

 private:
  void extend(arma::uword d);

  LiftedPoints<double> lift_;
  arma::uvec landmarks_;
  double cutoff_;
  std::shared_ptr<arma::mat> factor_ =
      std::make_shared<arma::mat>();  // (n_q + n_k) x capacity, ranks_.back() of them in use
  std::vector<arma::uword> ranks_;    // ranks_[d], d = 0, 1, ...
};

}  // namespace croquis
