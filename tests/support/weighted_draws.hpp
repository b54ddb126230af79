// Draws with given probabilities, and whether weights that are off by rounding draw the same.
#pragma once

#include <croquis/random/draws.hpp>
#include <vector>

#include "support/dense.hpp"

struct WeightedDraws {
  std::vector<arma::uword> indices;
  bool clear = true;  ///< weights that are each off by the relative error are bound to draw these indices
};

/// d draws as of sample_weighted() with probabilities p, by going along the distribution function F. For weights off by
/// a relative error e, F = A / (A + B) is off by at most 2 e F (1 - F), to first order; twice that is taken, and the
/// rounding of sums in double.
inline WeightedDraws weighted_draws(const std::vector<long double>& p, arma::uword d, const croquis::Key& key,
                                    double relative) {
  WeightedDraws draws;
  for (arma::uword j = 0; j < d; ++j) {
    const long double u = croquis::uniform_at(key, j);
    long double sum = 0;
    bool found = false;
    for (std::size_t i = 0; i < p.size(); ++i) {
      sum += p[i];
      if (!found && sum > u) {
        draws.indices.push_back(i);
        found = true;
      }
      const long double off = 4 * static_cast<long double>(relative) * sum * (1 - sum);
      if (i + 1 < p.size() && std::fabs(sum - u) <= off + 4 * static_cast<long double>(p.size()) * unit<double>()) {
        draws.clear = false;
      }
    }
    if (!found) draws.indices.push_back(p.size() - 1);
  }
  return draws;
}
