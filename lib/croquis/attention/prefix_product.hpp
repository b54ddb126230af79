// Products with causal scores of low rank, by running sums.
#pragma once

#include <algorithm>
#include <armadillo>
#include <cmath>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/toeplitz/relative_position.hpp>

namespace croquis {

inline constexpr arma::uword kPrefixChunk = 128;  // tokens in a chunk, whose scores are computed and masked together

/// The flops of prefix_product() for c columns: 2 (n_q + n_k) features c for the running sums, and 2 (features + c) for
/// each pair of tokens in a chunk of the queries, of which there are 128 n_q if all chunks are whole.
inline double prefix_product_flops(TokenAlignment tokens, double features, double c) {
  const auto n_q = static_cast<double>(tokens.n_q), n_k = static_cast<double>(tokens.n_k),
             chunk = static_cast<double>(kPrefixChunk);
  const double rest = std::fmod(n_q, chunk), pairs = (n_q - rest) * chunk + rest * rest;
  return 2 * (n_q + n_k) * features * c + 2 * pairs * (features + c);
}

/// y_i = sum over the keys j that query i attends to of phi_i.psi_j x_j, for `features` features. queries(first, last)
/// and keys(first, last) return rows first ... last of phi and psi. n_q <= n_k, and all queries attend to the keys
/// before the first query's own. X is n_k x c, Y is n_q x c.
/// Cost: prefix_product_flops(); memory for features c numbers and the chunks. One thread.
template <typename T, typename Queries, typename Keys>
arma::Mat<T> prefix_product(TokenAlignment tokens, arma::uword features, const Queries& queries, const Keys& keys,
                            const arma::Mat<T>& x) {
  const SerialBlas serial;
  const arma::uword n_q = tokens.n_q, before = tokens.n_k - n_q;
  arma::Mat<T> y(n_q, x.n_cols), state(features, x.n_cols, arma::fill::zeros);
  for (arma::uword first = 0; first < before; first += kPrefixChunk) {
    const arma::uword last = std::min(first + kPrefixChunk, before) - 1;
    state += keys(first, last).t() * x.rows(first, last);
  }
  for (arma::uword first = 0; first < n_q; first += kPrefixChunk) {
    const arma::uword last = std::min(first + kPrefixChunk, n_q) - 1;
    const arma::Mat<T> of_queries = queries(first, last), of_keys = keys(before + first, before + last);
    const arma::Mat<T> rows = x.rows(before + first, before + last);
    y.rows(first, last) = of_queries * state + arma::trimatl(of_queries * of_keys.t()) * rows;
    state += of_keys.t() * rows;
  }
  return y;
}

/// The transposed product: y_j = sum over the queries i that attend to key j of phi_i.psi_j x_i. X is n_q x c, Y n_k x
/// c.
template <typename T, typename Queries, typename Keys>
arma::Mat<T> suffix_product(TokenAlignment tokens, arma::uword features, const Queries& queries, const Keys& keys,
                            const arma::Mat<T>& x) {
  const SerialBlas serial;
  const arma::uword n_q = tokens.n_q, before = tokens.n_k - n_q;
  arma::Mat<T> y(tokens.n_k, x.n_cols), state(features, x.n_cols, arma::fill::zeros);
  for (arma::uword chunk = blocks_of(n_q, kPrefixChunk); chunk-- > 0;) {
    const arma::uword first = chunk * kPrefixChunk, last = std::min(first + kPrefixChunk, n_q) - 1;
    const arma::Mat<T> of_queries = queries(first, last), of_keys = keys(before + first, before + last);
    const arma::Mat<T> rows = x.rows(first, last);
    y.rows(before + first, before + last) = of_keys * state + arma::trimatu(of_keys * of_queries.t()) * rows;
    state += of_queries.t() * rows;
  }
  for (arma::uword first = 0; first < before; first += kPrefixChunk) {
    const arma::uword last = std::min(first + kPrefixChunk, before) - 1;
    y.rows(first, last) = keys(first, last) * state;
  }
  return y;
}

}  // namespace croquis
