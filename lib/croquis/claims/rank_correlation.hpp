// Spearman's rank correlation. Not installed.
#pragma once

#include <algorithm>
#include <armadillo>
#include <numeric>
#include <vector>

namespace croquis::claims {

/// The places of the numbers in ascending order, from 0; equal ones in the order that they have.
inline arma::vec ranks_of(const arma::vec& x) {
  std::vector<arma::uword> order(x.n_elem);
  std::iota(order.begin(), order.end(), arma::uword{0});
  std::stable_sort(order.begin(), order.end(), [&](arma::uword a, arma::uword b) { return x(a) < x(b); });
  arma::vec ranks(x.n_elem);
  for (arma::uword k = 0; k < x.n_elem; ++k) ranks(order[k]) = static_cast<double>(k);
  return ranks;
}

/// Of two or more numbers each.
inline double rank_correlation(const arma::vec& x, const arma::vec& y) {
  return arma::as_scalar(arma::cor(ranks_of(x), ranks_of(y)));
}

}  // namespace croquis::claims
