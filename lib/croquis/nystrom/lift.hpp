// The Nystrom method on the PSD lift of a kernel matrix between queries and keys (Skyformer Sec. 4.2).
#pragma once

#include <armadillo>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/kernel_matrix.hpp>
#include <memory>
#include <mutex>
#include <optional>

namespace croquis {

/// The n_q + n_k points (Q; K) / p^{1/4} of a Gaussian kernel, centred at their common mean. Their kernel matrix is the
/// lift M of the kernelized scores C, and C is its upper right block. Point i < n_q is query i, point n_q + j is key j.
/// Cheap to copy. Points are scaled and centred in blocks, when they are used. Thread-safe.
template <typename T>
class LiftedPoints {
 public:
  /// Q is n_q x p, K is n_k x p. All constructors throw std::invalid_argument unless n_q, n_k, p >= 1 and the widths
  /// are equal.
  LiftedPoints(arma::Mat<T> q, arma::Mat<T> k);
  /// The same without copies of Q and K.
  LiftedPoints(std::shared_ptr<const arma::Mat<T>> q, std::shared_ptr<const arma::Mat<T>> k);
  /// Some of the points of a lift, with the centre of all its scaled points in place of their own, and optionally the
  /// largest squared norm of all points about it.
  LiftedPoints(std::shared_ptr<const arma::Mat<T>> q, std::shared_ptr<const arma::Mat<T>> k, arma::Row<T> centre,
               std::optional<T> largest_squared_norm = {});

  arma::uword n_q() const { return points_->q->n_rows; }
  arma::uword n_k() const { return points_->k->n_rows; }
  arma::uword size() const { return n_q() + n_k(); }  ///< number of points
  /// The number of queries of a lift with n_q = n_k. Throws std::invalid_argument otherwise.
  arma::uword n() const;
  const arma::Row<T>& centre() const { return points_->centre; }  ///< of the scaled points
  CentredPoints<T> centred_queries() const { return centred(*points_->q); }
  CentredPoints<T> centred_keys() const { return centred(*points_->k); }
  /// Rows `indices` of (Q; K), neither scaled nor centred. Throws std::invalid_argument for an index that is not below
  /// size(). centred() scales and centres such rows, which must outlive its result.
  arma::Mat<T> given(const arma::uvec& indices) const;
  CentredPoints<T> centred(const arma::Mat<T>& given) const { return {given, points_->scale, &points_->centre}; }
  CentredPoints<T> centred(arma::Mat<T>&& given) const = delete;  // which would not outlive them
  /// The points of these rows, scaled and centred.
  arma::Mat<T> points(const arma::uvec& indices) const;
  /// The lift itself, size() x size(), given by its blocks.
  KernelMatrix<T> kernel() const;
  /// max ||x||^2 over the centred points x, for gaussian_entry_error().
  T largest_squared_norm() const;

 private:
  struct Points {
    std::shared_ptr<const arma::Mat<T>> q, k;
    T scale = 1;
    arma::Row<T> centre;  // of the scaled points
    mutable std::once_flag norm_once;
    mutable T largest_squared_norm = 0;
  };
  std::shared_ptr<const Points> points_;
};

/// The three blocks of a Nystrom approximation of the lift: C~ = left W^+ right^T, with W = core.
template <typename T>
struct NystromBlocks {
  arma::Mat<T> left;   ///< kappa(queries, landmarks), n_q x d
  arma::Mat<T> core;   ///< kappa(landmarks, landmarks), d x d, unit diagonal
  arma::Mat<T> right;  ///< kappa(keys, landmarks), n_k x d
};

/// The blocks for landmarks at `indices`; duplicates are allowed.
/// Cost: with n = n_q + n_k, 2 n d p + 2 d^2 p flops and n d + d^2 exponentials.
/// Throws: std::invalid_argument for an index that is not below n.
template <typename T>
NystromBlocks<T> nystrom_blocks(const LiftedPoints<T>& lift, const arma::uvec& indices);

/// The relative cut-off for the pseudo-inverse of the core: 2 d u gaussian_entry_error(max ||x||^2), at most 1/2.
template <typename T>
T core_cutoff(const LiftedPoints<T>& lift, arma::uword d);

}  // namespace croquis
