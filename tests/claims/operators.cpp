#include <doctest/doctest.h>
#include <croquis/claims/skeinformer/operators.hpp>

#include <set>

#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis::claims;
using croquis::Key;

TEST_CASE("operators: all distributions at the asked size") {
  std::set<std::string> names, distributions;
  for (const Operator& op : operators(12, 8)) {
    CAPTURE(op.name());
    CHECK(names.insert(op.name()).second);
    distributions.insert(op.description().distribution);
    const arma::mat s = op.draw(Key(test_seed()).child(op.name())).dense();
    REQUIRE(s.n_rows == 12);
    REQUIRE(s.n_cols == 8);
  }
  CHECK(distributions.size() == croquis::sketch_distributions<double>().size());
  CHECK(names.contains("uniform without replacement"));
}

TEST_CASE("operators: d that is no multiple of 4, or above n, is refused") {
  for (const arma::uword d : {0, 2, 6, 16}) {
    CHECK(contains(refusal([&] { operators(12, d); }), "d a multiple of 4 from 4 to n"));
  }
}
