#include <algorithm>
#include <croquis/random/cumulative.hpp>

namespace croquis {

// The sums end at the last positive weight and not after it.
CumulativeWeights::CumulativeWeights(const arma::vec& weights)
    : sums_(arma::cumsum(weights)),
      last_(static_cast<arma::uword>(std::lower_bound(sums_.begin(), sums_.end(), sums_.back()) - sums_.begin())) {}

arma::uword CumulativeWeights::index_of(double u) const {
  const auto above = std::upper_bound(sums_.begin(), sums_.end(), u * total()) - sums_.begin();
  return std::min(static_cast<arma::uword>(above), last_);
}

}  // namespace croquis
