// What the tests of masks of keys have in common: shapes, causality and comparisons, for any numbers of queries and
// keys.
#pragma once

#include <doctest/doctest.h>

#include <cmath>

#include "support/approximations.hpp"

/// Whether a query may meet a key: the last query stands at the last key.
inline bool may_meet(arma::uword i, arma::uword j, const croquis::TokenAlignment& tokens, bool causal) {
  return !causal || j + tokens.n_q <= i + tokens.n_k;
}

/// Square, decoding and more queries than keys, with and without a causal mask where there can be one.
struct MaskShape {
  croquis::TokenAlignment tokens;
  bool causal;
};
inline const std::vector<MaskShape>& mask_shapes() {
  static const std::vector<MaskShape> shapes = {{{41, 41}, false}, {{41, 41}, true},  {{7, 41}, false},
                                                {{7, 41}, true},   {{41, 12}, false}, {{1, 23}, true}};
  return shapes;
}

/// A problem of that shape, with repeated tokens and zero rows if `awkward`.
template <typename T>
croquis::Problem<T> masked_problem(const MaskShape& shape, double norm, const croquis::Key& draw_key,
                                   bool awkward = false) {
  const auto& [n_q, n_k] = shape.tokens;
  const croquis::Problem<T> plain = random_rectangle<T>(n_q, n_k, 6, 3, norm, draw_key);
  arma::Mat<T> q = plain.Q(), k = plain.K(), v = plain.V();
  if (awkward) {
    for (arma::uword i = n_q / 2; i < n_q; ++i) q.row(i) = q.row(i % std::min<arma::uword>(5, n_q));
    for (arma::uword j = n_k / 2; j < n_k; ++j) {
      k.row(j) = k.row(j % 5);
      v.row(j) = v.row(j % 5);
    }
    q.row(n_q - 1).zeros();
    k.row(n_k - 2).zeros();
    v.row(0).zeros();
  }
  return {q, k, v, {}, {.bias = {}, .causal = shape.causal}};
}

/// The error of an entry of a softmax row of n_k keys, absolute.
template <typename T>
double mask_entry_error(const croquis::Problem<T>& problem) {
  return softmax_error<T>(static_cast<double>(problem.n_k()), static_cast<double>(problem.p()), largest_logit(problem));
}

/// As check_scores, with a sum to 1 in every row and no weight on masked keys, to the bit.
template <typename T>
void check_mask(const croquis::Approximation<T>& approximation, const croquis::Problem<T>& problem,
                const Dense& expected, double entry) {
  const auto n = static_cast<double>(problem.tokens().n());
  REQUIRE(approximation.scores.has_value());
  const Dense b = approximation.scores->dense();
  CHECK(distance(b, expected) <= entry);
  CHECK(interface_gap(approximation, problem) <= 4 * n * unit<T>());
  CHECK(row_sum_gap(approximation) <= 4 * n * unit<T>());
  const double value = std::max(1e-300, static_cast<double>(largest_entry_of(problem.V())));
  CHECK(distance(approximation.output, expected * problem.V()) <= n * (entry + 4 * unit<T>()) * value);
  for (arma::uword i = 0; i < b.rows; ++i) {
    for (arma::uword j = 0; j < b.cols; ++j) {
      if (!may_meet(i, j, problem.tokens(), problem.is_causal())) CHECK(b(i, j) == 0);
    }
  }
}

/// B of the problem, with its mask.
template <typename T>
Dense masked_exact(const croquis::Problem<T>& problem) {
  return masked_softmax(logits_of(problem.Q(), problem.K()), [&](arma::uword i, arma::uword j) {
    return may_meet(i, j, problem.tokens(), problem.is_causal());
  });
}

/// The number of weights that are not zero. (Norms are small enough that none underflows.)
template <typename T>
double visits_of(const croquis::Approximation<T>& approximation) {
  double visits = 0;
  for (const long double x : Dense(approximation.scores->dense()).entries) visits += x != 0 ? 1 : 0;
  return visits;
}
