// Means and sums over the leaves of a tree of points.
#pragma once

#include <armadillo>
#include <croquis/sampling/point_tree.hpp>

namespace croquis {

/// The columns of X^T less their mean, and that mean.
template <typename T>
struct CentredColumns {
  explicit CentredColumns(const arma::Mat<T>& rows);
  arma::Mat<T> columns;  // p x n
  arma::Col<T> mean;
};

/// Weighted means of the centred points of the leaves, as rows (leaves x p).
template <typename T>
arma::Mat<T> leaf_means(const CentredColumns<T>& points, const arma::Col<T>& weights, const PointTree& tree);

/// Sums of the rows of X over the leaves (leaves x columns of X).
template <typename T>
arma::Mat<T> leaf_sums(const arma::Mat<T>& x, const PointTree& tree);

}  // namespace croquis
