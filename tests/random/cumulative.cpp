#include <doctest/doctest.h>
#include <croquis/random/cumulative.hpp>
#include <croquis/random/draws.hpp>

#include <cmath>

#include "support/seed.hpp"

using namespace croquis;

namespace {

// The index whose share of [0, 1) holds u, by taking the shares away one after the other.
arma::uword by_subtraction(const arma::vec& weights, double u) {
  double rest = u * arma::accu(weights);
  arma::uword last = 0;
  for (arma::uword i = 0; i < weights.n_elem; ++i) {
    if (weights(i) == 0) continue;
    last = i;
    if (rest < weights(i)) return i;
    rest -= weights(i);
  }
  return last;
}

}  // namespace

TEST_CASE("CumulativeWeights: the share of an index is its weight, ends included, and weight 0 has none") {
  // Sums of small integers and u of few bits: all of it exact.
  for (const arma::vec& weights : {arma::vec{0, 3, 0, 0, 1, 4, 0}, arma::vec{8}, arma::vec{0, 8}, arma::vec{8, 0},
                                   arma::vec{1, 1, 1, 1, 1, 1, 1, 1}, arma::vec{5, 0, 0, 0, 0, 3}}) {
    const CumulativeWeights cumulative(weights);
    CHECK(cumulative.total() == 8);
    for (int k = 0; k <= 64; ++k) {
      CAPTURE(k);
      const arma::uword index = cumulative.index_of(k / 64.0);
      CHECK(index == by_subtraction(weights, k / 64.0));
      CHECK(weights(index) > 0);
    }
  }
}

TEST_CASE("CumulativeWeights: u just below and at 1 leads to the last positive weight, whatever the sum rounds to") {
  arma::vec weights(1000, arma::fill::value(0.1));
  weights.tail(3).zeros();
  const CumulativeWeights cumulative(weights);
  CHECK(cumulative.index_of(1) == 996);
  CHECK(cumulative.index_of(1 - 0x1p-53) == 996);
  CHECK(cumulative.index_of(0) == 0);
  // A weight that the sum does not feel is no end: it has no share.
  const arma::vec tiny = {1, 1e-30};
  CHECK(CumulativeWeights(tiny).index_of(1) == 0);
}

TEST_CASE("CumulativeWeights: as often as a linear search has it, for many u") {
  const Key key = Key(test_seed()).child("cumulative");
  arma::vec weights(37);
  for (arma::uword i = 0; i < weights.n_elem; ++i) weights(i) = i % 5 == 2 ? 0 : std::floor(16 * uniform_at(key, i));
  const CumulativeWeights cumulative(weights);
  for (std::uint64_t t = 0; t < 2000; ++t) {
    const double u = uniform_at(key.child("u"), t);
    REQUIRE(cumulative.index_of(u) == by_subtraction(weights, u));
  }
}
