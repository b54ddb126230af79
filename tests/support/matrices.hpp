// Matrices and problems for the tests, drawn from random keys.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <croquis/random/draws.hpp>

/// Entries N(0,1), drawn in double and rounded to T: the same matrix in both precisions.
template <typename T = double>
arma::Mat<T> random_matrix(arma::uword rows, arma::uword cols, const croquis::Key& draw_key) {
  arma::mat m(rows, cols);
  croquis::fill_normal(draw_key, 0, m.n_elem, m.memptr());
  return arma::conv_to<arma::Mat<T>>::from(m);
}

/// n x k with orthonormal columns, k <= n.
inline arma::mat random_orthonormal(arma::uword n, arma::uword k, const croquis::Key& draw_key) {
  arma::mat q, r;
  arma::qr_econ(q, r, random_matrix(n, k, draw_key));
  return q;
}

/// m x n with the given singular values, at most min(m, n) of them, and random singular vectors.
inline arma::mat with_singular_values(arma::uword m, arma::uword n, const arma::vec& values,
                                      const croquis::Key& draw_key) {
  return random_orthonormal(m, values.n_elem, draw_key.child("left")) * arma::diagmat(values) *
         random_orthonormal(n, values.n_elem, draw_key.child("right")).t();
}

/// n x n, symmetric, with the given eigenvalues, at most n of them; the others are zero.
inline arma::mat with_eigenvalues(arma::uword n, const arma::vec& values, const croquis::Key& draw_key) {
  const arma::mat u = random_orthonormal(n, values.n_elem, draw_key);
  return arma::symmatu(u * arma::diagmat(values) * u.t());
}

/// n_q queries and n_k keys, as random_problem has them.
template <typename T>
croquis::Problem<T> random_rectangle(arma::uword n_q, arma::uword n_k, arma::uword p, arma::uword p_v, double norm,
                                     const croquis::Key& draw_key, croquis::RelativePosition<T> position = {}) {
  const T scale = static_cast<T>(norm / std::sqrt(static_cast<double>(p)));
  return {scale * random_matrix<T>(n_q, p, draw_key.child("query")),
          scale * random_matrix<T>(n_k, p, draw_key.child("key")),
          random_matrix<T>(n_k, p_v, draw_key.child("value")),
          {},
          std::move(position)};
}

/// Q and K with rows of root mean square norm `norm`, V with entries N(0,1) about `v_mean`.
template <typename T>
croquis::Problem<T> random_problem(arma::uword n, arma::uword p, arma::uword p_v, double norm,
                                   const croquis::Key& draw_key, double v_mean = 0) {
  const T scale = static_cast<T>(norm / std::sqrt(static_cast<double>(p)));
  return {scale * random_matrix<T>(n, p, draw_key.child("query")),
          scale * random_matrix<T>(n, p, draw_key.child("key")),
          random_matrix<T>(n, p_v, draw_key.child("value")) + static_cast<T>(v_mean)};
}
