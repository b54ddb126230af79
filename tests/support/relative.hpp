// Relative positions by their definition, pair by pair in long double.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/random/draws.hpp>

#include "support/dense.hpp"

/// b_{j-i} for all pairs of n tokens, -inf where causality or the bias says so.
template <typename T>
Dense pairwise_bias(const croquis::RelativePosition<T>& position, arma::uword n) {
  Dense b(n, n);
  const arma::uword h = position.height, w = n / h;
  for (arma::uword i = 0; i < n; ++i) {
    for (arma::uword j = 0; j < n; ++j) {
      const arma::uword row = j / w + h - 1 - i / w, column = j % w + w - 1 - i % w;
      if (!position.bias.is_empty()) b(i, j) = static_cast<long double>(position.bias(row * (2 * w - 1) + column));
      if (position.causal && j > i) b(i, j) = -std::numeric_limits<long double>::infinity();
    }
  }
  return b;
}

/// The last n_q rows and n_k columns of that: the pairs of a problem.
template <typename T>
Dense pairwise_bias(const croquis::Problem<T>& problem) {
  const arma::uword n = std::max(problem.n_q(), problem.n_k());
  const Dense all = pairwise_bias(problem.position(), n);
  Dense b(problem.n_q(), problem.n_k());
  for (arma::uword i = 0; i < b.rows; ++i) {
    for (arma::uword j = 0; j < b.cols; ++j) b(i, j) = all(n - b.rows + i, n - b.cols + j);
  }
  return b;
}

/// exp(b_{j-i} - shift).
template <typename T>
Dense pairwise_weights(const croquis::RelativePosition<T>& position, arma::uword n, long double shift) {
  Dense c = pairwise_bias(position, n);
  for (long double& x : c.entries) x = std::exp(x - shift);
  return c;
}

/// The log-scores of softmax_rpe or normalized_rpe.
template <typename T>
Dense relative_logits(const croquis::Problem<T>& problem, bool unit_length) {
  Dense q = problem.Q(), k = problem.K();
  for (Dense* m : {&q, &k}) {
    for (arma::uword i = 0; i < m->rows; ++i) {
      long double squares = 0;
      for (arma::uword c = 0; c < m->cols; ++c) squares += (*m)(i, c) * (*m)(i, c);
      const long double length =
          unit_length ? std::sqrt(squares) : std::sqrt(std::sqrt(static_cast<long double>(m->cols)));
      for (arma::uword c = 0; c < m->cols && length > 0; ++c) (*m)(i, c) /= length;
    }
  }
  return q * transposed(k) + pairwise_bias(problem);
}

/// n tokens with independent N(0, deviation^2) biases, `cut_off` of them -inf, b_0 finite.
template <typename T>
croquis::RelativePosition<T> random_position(arma::uword n, arma::uword height, bool causal, double deviation,
                                             const croquis::Key& draw_key, bool cut_off = true) {
  const croquis::RelativeGrid grid(n, height);
  arma::vec b(grid.size());
  croquis::fill_normal(draw_key, 0, b.n_elem, b.memptr());
  b *= deviation;
  for (arma::uword t = 1; cut_off && t < b.n_elem; t += 5) {
    if (t != grid.centre()) b(t) = -std::numeric_limits<double>::infinity();
  }
  return {arma::conv_to<arma::Col<T>>::from(b), causal, height};
}
