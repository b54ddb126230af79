// Matrices of normals that are one draw in float and in double.
#pragma once

#include <armadillo>
#include <croquis/random/draws.hpp>

namespace croquis {

/// The normals z_0, z_1, ... of the key in double, column by column, rounded to T.
/// Cost: that of fill_normal in double, twice that in float. Where normals are most of the work, fill_normal<float>
///   makes another draw in half of the time (GaussianSketch).
template <typename T>
arma::Mat<T> normal_matrix(const Key& key, arma::uword rows, arma::uword cols) {
  arma::mat z(rows, cols);
  fill_normal(key, 0, z.n_elem, z.memptr());
  return arma::conv_to<arma::Mat<T>>::from(z);
}

}  // namespace croquis
