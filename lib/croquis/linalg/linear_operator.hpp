// Matrices known by their products: score matrices that are never stored n x n.
#pragma once

#include <armadillo>
#include <functional>

namespace croquis {

/// An m x n matrix A given by X -> A X and X -> A^T X. Cheap to copy: the functions share what they captured.
template <typename T>
struct LinearOperator {
  using Product = std::function<arma::Mat<T>(const arma::Mat<T>&)>;

  arma::uword rows = 0, cols = 0;
  Product apply;             ///< X (n x k) -> A X (m x k)
  Product apply_transposed;  ///< X (m x k) -> A^T X (n x k)

  /// A as a stored matrix, A I. Cost: one product with n columns; for tests and small matrices.
  arma::Mat<T> dense() const { return apply(arma::Mat<T>(cols, cols, arma::fill::eye)); }
};

/// The operator of a stored matrix.
template <typename T>
LinearOperator<T> as_operator(arma::Mat<T> matrix);

/// The m x n operator that `make` gives, made when it is first applied: for factors that few callers want. Thread-safe.
template <typename T>
LinearOperator<T> deferred(arma::uword rows, arma::uword cols, std::function<LinearOperator<T>()> make);

/// A - B. Throws std::invalid_argument unless the sizes agree.
template <typename T>
LinearOperator<T> difference(const LinearOperator<T>& a, const LinearOperator<T>& b);

}  // namespace croquis
