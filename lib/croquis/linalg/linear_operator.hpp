// Matrices that are given by their products, such as score matrices, which are never stored n x n.
#pragma once

#include <armadillo>
#include <croquis/core/matrix_layout.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <functional>
#include <memory>
#include <string_view>

namespace croquis {

/// An m x n matrix A, given by the functions X -> A X and X -> A^T X. It is cheap to copy: the copies share what the
/// functions captured.
template <typename T>
struct LinearOperator {
  using Product = std::function<arma::Mat<T>(const arma::Mat<T>&)>;

  arma::uword rows = 0, cols = 0;
  Product apply;             ///< X (n x k) -> A X (m x k)
  Product apply_transposed;  ///< X (m x k) -> A^T X (n x k)

  /// A as a stored matrix (m x n), computed as A I. Cost: one product with n columns. For tests and small matrices.
  arma::Mat<T> dense() const {
    const SerialBlas serial;  // apply may be a function of the host
    return apply(arma::Mat<T>(cols, cols, arma::fill::eye));
  }
};

/// The operator of a stored matrix.
template <typename T>
LinearOperator<T> as_operator(arma::Mat<T> matrix);

/// The operator A B^T of two stored factors A (m x d) and B (n x d).
template <typename T>
LinearOperator<T> as_operator(arma::Mat<T> a, arma::Mat<T> b);

/// Throws std::invalid_argument unless rows == wanted. `rows` is that of X, and `wanted` the number of columns of an
/// operator for A X, or of its rows for A^T X.
inline void require_rows(arma::uword rows, arma::uword wanted, std::string_view where) {
  require(rows == wanted, where, "an X with as many rows as the operator has columns, or transposed",
          {{"rows", rows}, {"wanted", wanted}});
}

/// The rows x cols operator of an object with apply() and apply_transposed(), which the copies share. The operator
/// checks the number of rows of X before it calls them, and throws std::invalid_argument if it is wrong.
template <typename T, typename Factors>
LinearOperator<T> operator_of(arma::uword rows, arma::uword cols, std::shared_ptr<Factors> factors) {
  return {rows, cols,
          [factors, cols](const arma::Mat<T>& x) -> arma::Mat<T> {
            require_rows(x.n_rows, cols, "LinearOperator");
            return factors->apply(x);
          },
          [factors, rows](const arma::Mat<T>& x) -> arma::Mat<T> {
            require_rows(x.n_rows, rows, "LinearOperator");
            return factors->apply_transposed(x);
          }};
}

/// The rows x cols operator that `make` returns. It is built lazily, on first use. Thread-safe.
template <typename T>
LinearOperator<T> deferred(arma::uword rows, arma::uword cols, std::function<LinearOperator<T>()> make);

/// diag(f)^-1 A: row i of A divided by f_i.
template <typename T>
LinearOperator<T> divided_rows(const LinearOperator<T>& a, arma::Col<T> f);

/// A - B. Throws std::invalid_argument unless the sizes agree.
template <typename T>
LinearOperator<T> difference(const LinearOperator<T>& a, const LinearOperator<T>& b);

}  // namespace croquis
