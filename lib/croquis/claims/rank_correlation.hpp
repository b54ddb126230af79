// Spearman's rank correlation. Not installed.
#pragma once

#include <algorithm>
#include <armadillo>
#include <limits>
#include <numeric>
#include <vector>

namespace croquis::claims {

/// Ranks in ascending order, from 0. Ties have the mean of their ranks. A number is tied with the next larger one where
/// it is within `rounding` of it, what two computed numbers that are equal may differ by.
inline arma::vec ranks_of(const arma::vec& x, double rounding) {
  std::vector<arma::uword> order(x.n_elem);
  std::iota(order.begin(), order.end(), arma::uword{0});
  std::stable_sort(order.begin(), order.end(), [&](arma::uword a, arma::uword b) { return x(a) < x(b); });
  arma::vec ranks(x.n_elem);
  for (arma::uword first = 0; first < x.n_elem;) {
    arma::uword last = first;
    while (last + 1 < x.n_elem && x(order[last + 1]) - x(order[last]) <= rounding) ++last;
    for (arma::uword k = first; k <= last; ++k) ranks(order[k]) = static_cast<double>(first + last) / 2;
    first = last + 1;
  }
  return ranks;
}

/// Spearman's coefficient of two or more numbers each, which are off by half of `rounding` at most. NaN where all of x
/// or all of y are tied: then there is no order.
inline double rank_correlation(const arma::vec& x, const arma::vec& y, double rounding) {
  const arma::vec of_x = ranks_of(x, rounding), of_y = ranks_of(y, rounding);
  if (of_x.min() == of_x.max() || of_y.min() == of_y.max()) return std::numeric_limits<double>::quiet_NaN();
  return arma::as_scalar(arma::cor(of_x, of_y));
}

}  // namespace croquis::claims
