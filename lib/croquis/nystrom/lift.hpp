// The Nystrom method on the PSD lift of a kernel matrix between queries and keys (Skyformer Sec. 4.2).
#pragma once

#include <armadillo>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/kernel_matrix.hpp>
#include <memory>
#include <mutex>
#include <optional>

namespace croquis {

/// The n_q + n_k points (Q; K) / p^{1/4} of a Gaussian kernel, centred at their common mean: the lift M of the
/// kernelized scores C is their kernel matrix, and C its upper right block. Point i < n_q is query i, point n_q + j is
/// key j. Cheap to copy. Kernels and products move the points in blocks. Thread-safe.
template <typename T>
class LiftedPoints {
 public:
  LiftedPoints(arma::Mat<T> q, arma::Mat<T> k);
  /// The same without copies of Q and K.
  LiftedPoints(std::shared_ptr<const arma::Mat<T>> q, std::shared_ptr<const arma::Mat<T>> k);
  /// Some of the points of a lift, with the centre of all of its scaled points, and their largest squared norm about it
  /// where it is known, in place of their own.
  LiftedPoints(std::shared_ptr<const arma::Mat<T>> q, std::shared_ptr<const arma::Mat<T>> k, arma::Row<T> centre,
               std::optional<T> largest_squared_norm = {});

  arma::uword n_q() const { return points_->q->n_rows; }
  arma::uword n_k() const { return points_->k->n_rows; }
  arma::uword size() const { return n_q() + n_k(); }  ///< number of points
  /// Queries of a lift with as many keys. Throws std::invalid_argument for another.
  arma::uword n() const;
  const arma::Row<T>& centre() const { return points_->centre; }  ///< of the scaled points
  CentredPoints<T> centred_queries() const { return centred(*points_->q); }
  CentredPoints<T> centred_keys() const { return centred(*points_->k); }
  /// Rows `indices` (each < size()) of (Q; K) as they are given, and the points of such rows, which must outlive them.
  arma::Mat<T> given(const arma::uvec& indices) const;
  CentredPoints<T> centred(const arma::Mat<T>& given) const { return {given, points_->scale, &points_->centre}; }
  CentredPoints<T> centred(arma::Mat<T>&& given) const = delete;  // which would not outlive them
  /// The same, centred.
  arma::Mat<T> points(const arma::uvec& indices) const;
  /// The lift itself, size() x size(), by blocks.
  KernelMatrix<T> kernel() const;
  /// max ||x||^2. Kernel entries are accurate to about u times this, and at worst to about 128 u.
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

/// Blocks for landmarks at `indices`, duplicates allowed. Cost, with n = n_q + n_k: 2 n d p + 2 d^2 p flops, n d + d^2
/// exponentials.
template <typename T>
NystromBlocks<T> nystrom_blocks(const LiftedPoints<T>& lift, const arma::uvec& indices);

/// The relative cut-off for the pseudo-inverse of the core, d u (1 + min(max ||x||^2, 128)), which is the accuracy of
/// its entries.
template <typename T>
T core_cutoff(const LiftedPoints<T>& lift, arma::uword d);

}  // namespace croquis
