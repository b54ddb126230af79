// Spearman's rank correlation. Not installed.
#pragma once

#include <algorithm>
#include <armadillo>
#include <numeric>
#include <vector>

namespace croquis::claims {

/// Ranks in ascending order, from 0; ties are ranked by position, not averaged.
inline arma::vec ranks_of(const arma::vec& x) {
  std::vector<arma::uword> order(x.n_elem);
  std::iota(order.begin(), order.end(), arma::uword{0});
  std::stable_sort(order.begin(), order.end(), [&](arma::uword a, arma::uword b) { return x(a) < x(b); });
  arma::vec ranks(x.n_elem);
  for (arma::uword k = 0; k < x.n_elem; ++k) ranks(order[k]) = static_cast<double>(k);
  return ranks;
}

/// Spearman's coefficient of two or more numbers each, with ties ranked by position.
inline double rank_correlation(const arma::vec& x, const arma::vec& y) {
  return arma::as_scalar(arma::cor(ranks_of(x), ranks_of(y)));
}

}  // namespace croquis::claims
