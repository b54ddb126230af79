// Keys that need the most features, and products that lose the most by Fourier transform.
#include <cmath>
#include <croquis/claims/nprf/checks.hpp>
#include <croquis/claims/papers.hpp>
#include <croquis/features/feature_maps.hpp>
#include <croquis/random/draws.hpp>

namespace croquis::claims {
namespace {

// The query is (1, 0), the keys are the rows. The fewest directions from which on at most a share delta of the trials
// is off by more than t, on the same draws for every input: those of the search, or fresh ones.
double features_needed(const arma::mat& keys, const Check& check, FeatureMap map, bool fresh) {
  const double t = 4 * check.value("epsilon"), delta = check.value("delta");
  const arma::uword trials = check.count(fresh ? "fresh draws" : "search draws"), most = check.count("search features"),
                    n = keys.n_rows;
  const arma::rowvec query = {1, 0};
  arma::mat z = map == FeatureMap::trf ? arma::mat(-keys) : keys;  // q - k or q + k
  z.each_row() += query;
  const arma::vec squares = arma::sum(arma::square(z), 1);
  arma::vec exact = arma::exp(keys * query.t());
  exact /= arma::accu(exact);
  arma::mat directions(2, trials * most);
  fill_normal(Key(check.count("search seed")).child(fresh ? "rpe.thm3 fresh" : "rpe.thm3"), 0, directions.n_elem,
              directions.memptr());
  std::vector<arma::uword> off(most);
  for (arma::uword trial = 0; trial < trials; ++trial) {
    arma::vec sums(n, arma::fill::zeros);
    for (arma::uword m = 0; m < most; ++m) {
      const arma::vec inner = z * directions.col(trial * most + m);
      sums += map == FeatureMap::trf ? arma::vec(arma::exp(squares / 2) % arma::cos(inner))
                                     : arma::vec(arma::exp(inner - squares / 2));
      const arma::vec estimate = exact % sums;
      if (!(arma::accu(arma::abs(exact - estimate / arma::accu(estimate))) <= t)) ++off[m];
    }
  }
  arma::uword needed = most;
  while (needed > 0 && static_cast<double>(off[needed - 1]) <= delta * static_cast<double>(trials)) --needed;
  return static_cast<double>(needed + 1);
}

// Over what T14c asks for at R = 1.
template <FeatureMap map, bool fresh>
double share_of_sharper(const arma::mat& keys, const Check& check) {
  const double t = 4 * check.value("epsilon"), delta = check.value("delta");
  const double variance = map == FeatureMap::prf ? std::expm1(4.0) : std::exp(4.0) * std::pow(std::expm1(-4.0), 2) / 2;
  return features_needed(keys, check, map, fresh) / (std::pow((1 + t) / t, 2) * variance / delta);
}

}  // namespace

std::vector<SearchedBound> nprf_bounds() {
  const double s = std::sqrt(0.5);
  return {{.name = "rpe.thm3",
           .claim = "rpe.thm3/sharper",
           .space = {3, 2, 1},
           .starts = {{{s, s}, {s, -s}, {s, s}}},
           .share = share_of_sharper<FeatureMap::prf, false>,
           .again = share_of_sharper<FeatureMap::prf, true>},
          {.name = "rpe.thm3-trf",
           .claim = "rpe.thm3/trf",
           .space = {3, 2, 1},
           .starts = {{{-s, s}, {-s, -s}, {-s, s}}},
           .share = share_of_sharper<FeatureMap::trf, false>,
           .again = share_of_sharper<FeatureMap::trf, true>},
          {.name = "rpe.toeplitz", .claim = "rpe.toeplitz/norm-wise", .space = {1, 16, 1}, .share = toeplitz_share}};
}

}  // namespace croquis::claims
