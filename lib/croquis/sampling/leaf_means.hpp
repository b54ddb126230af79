// Means and sums over the leaves of a tree of points.
#pragma once

#include <armadillo>
#include <croquis/sampling/point_tree.hpp>

namespace croquis {

/// X^T (p x n) with the mean point subtracted from every column, and that mean.
template <typename T>
struct CentredColumns {
  explicit CentredColumns(const arma::Mat<T>& rows);
  arma::Mat<T> columns;  // p x n
  arma::Col<T> mean;
};

/// The weighted means of the centred points of each leaf, as rows (leaves x p). Throws std::invalid_argument unless
/// there are as many points and weights as the tree has points.
template <typename T>
arma::Mat<T> leaf_means(const CentredColumns<T>& points, const arma::Col<T>& weights, const PointTree& tree);

/// The sums of the columns of X over each leaf (leaves x rows of X). Throws std::invalid_argument unless X has a column
/// for each point of the tree.
template <typename T>
arma::Mat<T> leaf_sums(const arma::Mat<T>& x, const PointTree& tree);

}  // namespace croquis
