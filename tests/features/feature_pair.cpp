#include <doctest/doctest.h>
#include <croquis/features/feature_adjoint.hpp>
#include <croquis/features/feature_pair.hpp>
#include <type_traits>

#include <cmath>
#include <limits>
#include <utility>

#include "support/dense.hpp"
#include "support/features.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kPairWidth = 6, kQueries = 9, kKeys = 7, kDirections = 10;

template <typename T>
FeaturePair<T> pair_of(const arma::Mat<T>& x, const arma::Mat<T>& y, FeatureMap map,
                       ProjectionDistribution distribution, double epsilon = 0, arma::uword directions = kDirections) {
  const arma::uword d = has_two_functions(map) ? 2 * directions : directions;
  return FeaturePair<T>(x, y, d, {map, distribution, epsilon}, Key(test_seed()).child("features"));
}

template <typename T>
arma::Mat<T> pair_rows(arma::uword n, double norm, const char* name) {
  return static_cast<T>(norm / std::sqrt(double{kPairWidth})) *
         random_matrix<T>(n, kPairWidth, Key(test_seed()).child(name));
}

// queries keys^T, and the same with absolute values: what rounding is relative to when features have signs.
template <typename T>
Dense product_of(const typename FeaturePair<T>::Matrices& m, bool absolute) {
  Dense s(m.queries.n_rows, m.keys.n_rows);
  for (arma::uword i = 0; i < s.rows; ++i) {
    for (arma::uword j = 0; j < s.cols; ++j) {
      for (arma::uword r = 0; r < m.queries.n_cols; ++r) {
        const auto term = static_cast<long double>(m.queries(i, r)) * static_cast<long double>(m.keys(j, r));
        s(i, j) += absolute ? std::fabs(term) : term;
      }
    }
  }
  return s;
}

// Error of an exponent, absolute, so that of a feature, relative: w.x has p + 8 roundings of |w||x|, the other terms
// have a few of ||x||^2, of a |w|^2 and of the shifts, which are no larger than the exponents themselves.
template <typename T>
double exponent_error(const Dense& w, const Dense& x, const Dense& y) {
  const double size = largest_row(x) + largest_row(y), longest = largest_row(w) + 1;
  return 8 * (kPairWidth + 8) * unit<T>() * (longest * longest + size * size + longest * size + 4);
}

}  // namespace

TEST_CASE_TEMPLATE("FeaturePair: products are those of the definition, every map and projection", T, float, double) {
  for (const FeatureMap map : kAllMaps) {
    for (const std::string& distribution : projection_names()) {
      if (map == FeatureMap::sphere && distribution == "sorf") continue;  // some directions are 0, and refused
      CAPTURE(name_of(map));
      CAPTURE(distribution);
      const arma::Mat<T> x = pair_rows<T>(kQueries, 1.5, "x"), y = pair_rows<T>(kKeys, 0.8, "y");
      const FeaturePair<T> pair = pair_of(x, y, map, projection_distribution(distribution));
      const typename FeaturePair<T>::Matrices phi = pair.matrices();
      const Dense w = Projection<T>(projection_distribution(distribution), kDirections, kPairWidth,
                                    Key(test_seed()).child("features"))
                          .dense();
      const Dense expected = plain_scores(map, w, x, y), product = product_of<T>(phi, false),
                  absolute = product_of<T>(phi, true);
      CHECK(pair.count() == phi.queries.n_cols);
      for (arma::uword i = 0; i < kQueries; ++i) {
        const long double scale = std::exp(static_cast<long double>(phi.log_scale(i)));
        for (arma::uword j = 0; j < kKeys; ++j) {
          CHECK(std::abs(static_cast<double>(scale * product(i, j) - expected(i, j))) <=
                exponent_error<T>(w, x, y) * static_cast<double>(scale * absolute(i, j)));
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("FeaturePair: blocks of tokens and directions are parts of the whole", T, float, double) {
  const arma::Mat<T> x = pair_rows<T>(kQueries, 2, "x"), y = pair_rows<T>(kKeys, 2, "y");
  const arma::uvec tokens = {5, 1, 6};
  for (const FeatureMap map : kAllMaps) {
    for (const double epsilon : {0.0, 1e-3}) {
      if (map == FeatureMap::trf && epsilon > 0) continue;
      CAPTURE(name_of(map));
      const arma::uword m = 150;  // more than a block of 64 directions
      const FeaturePair<T> pair = pair_of(x, y, map, ProjectionDistribution::haar, epsilon, m);
      const auto whole = pair.matrices();
      const auto shifts = pair.shifts();
      // Products of other shapes round differently: an exponent of at most 30 by 30 u.
      CHECK(distance(shifts.log_scale, whole.log_scale) <= 900 * unit<T>());
      const arma::Mat<T> queries = pair.queries(tokens, arma::span(60, 70), shifts),
                         keys = pair.keys(tokens, arma::span(60, 70), shifts);
      REQUIRE(queries.n_cols == 11 * pair.functions());
      for (arma::uword f = 0; f < pair.functions(); ++f) {
        for (arma::uword c = 0; c < 11; ++c) {
          for (arma::uword t = 0; t < 3; ++t) {
            const auto gap = [&](T a, T b) { return static_cast<double>(std::abs(a - b)); };
            CHECK(gap(queries(t, 11 * f + c), whole.queries(tokens(t), m * f + 60 + c)) <= 900 * unit<T>());
            CHECK(gap(keys(t, 11 * f + c), whole.keys(tokens(t), m * f + 60 + c)) <= 900 * unit<T>());
          }
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("FeaturePair: with norms up to 10,000 nothing overflows, and sums of positive maps are at least 1",
                   T, float, double) {
  for (const double norm : {1e-8, 1.0, 100.0, 1e4}) {
    const arma::Mat<T> x = pair_rows<T>(kQueries, norm, "x"), y = pair_rows<T>(kKeys, norm, "y");
    for (const FeatureMap map : kAllMaps) {
      CAPTURE(name_of(map));
      CAPTURE(norm);
      const auto phi = pair_of(x, y, map, ProjectionDistribution::haar).matrices();
      CHECK(phi.queries.is_finite());
      CHECK(phi.keys.is_finite());
      CHECK(phi.log_scale.is_finite());
      if (map == FeatureMap::trf) continue;
      const arma::Col<T> sums = phi.queries * arma::sum(phi.keys, 0).t();
      CHECK(sums.min() >= T(1) - 8 * std::numeric_limits<T>::epsilon());
      // Exponents as large as 1e8 round by many units in float, so the largest feature is 1 only where it is exact.
      CHECK(phi.keys.max() <= T(1) + 8 * std::numeric_limits<T>::epsilon());
      CHECK(phi.queries.max() <= T(1) + 8 * std::numeric_limits<T>::epsilon());
    }
  }
}

TEST_CASE_TEMPLATE("FeaturePair: epsilon is added to FAVOR+'s shifted features", T, float, double) {
  const arma::Mat<T> x = pair_rows<T>(kQueries, 1.5, "x"), y = pair_rows<T>(kKeys, 0.8, "y");
  const double epsilon = 0.01;
  const auto phi = pair_of(x, y, FeatureMap::prf, ProjectionDistribution::iid, epsilon).matrices();
  const Dense w =
      Projection<T>(ProjectionDistribution::iid, kDirections, kPairWidth, Key(test_seed()).child("features")).dense();
  const auto inner = [&](const Dense& a, arma::uword i, arma::uword r) {
    long double sum = 0;
    for (arma::uword c = 0; c < kPairWidth; ++c) sum += a(i, c) * w(r, c);
    return sum;
  };
  const auto height = [&](const Dense& a, arma::uword i) {
    long double sum = 0;
    for (arma::uword c = 0; c < kPairWidth; ++c) sum += a(i, c) * a(i, c);
    return sum / 2;
  };
  long double top = -1e30L;
  for (arma::uword j = 0; j < kKeys; ++j) {
    for (arma::uword r = 0; r < kDirections; ++r) top = std::max(top, inner(y, j, r));
  }
  const double bound = exponent_error<T>(w, x, y);
  for (arma::uword r = 0; r < kDirections; ++r) {
    for (arma::uword j = 0; j < kKeys; ++j) {
      const long double expected = std::exp(inner(y, j, r) - height(y, j) - top) + static_cast<long double>(epsilon);
      CHECK(std::abs(static_cast<double>(static_cast<long double>(phi.keys(j, r)) - expected)) <= bound);
    }
    for (arma::uword i = 0; i < kQueries; ++i) {
      long double row_top = -1e30L;
      for (arma::uword s = 0; s < kDirections; ++s) row_top = std::max(row_top, inner(x, i, s));
      const long double expected =
          std::exp(inner(x, i, r) - height(x, i) - row_top) + static_cast<long double>(epsilon);
      CHECK(std::abs(static_cast<double>(static_cast<long double>(phi.queries(i, r)) - expected)) <= bound);
      const long double log_scale = row_top + top - std::log(static_cast<long double>(kDirections));
      CHECK(std::abs(static_cast<double>(static_cast<long double>(phi.log_scale(i)) - log_scale)) <= bound);
    }
  }
}

TEST_CASE_TEMPLATE("FeaturePair: the same bits for any number of threads", T, float, double) {
  const arma::Mat<T> x = pair_rows<T>(700, 2, "x"), y = pair_rows<T>(600, 2, "y");
  for (const FeatureMap map : kAllMaps) {
    // Of sorf some directions of p = 6 are 0, and refused with sphere.
    const FeaturePair<T> pair =
        pair_of(x, y, map, map == FeatureMap::sphere ? ProjectionDistribution::haar : ProjectionDistribution::sorf);
    const ThreadCount one(1);
    const auto expected = pair.matrices();
    for (const int team : {2, 4}) {
      const ThreadCount count(team);
      const auto phi = pair.matrices();
      CHECK(identical(phi.queries, expected.queries));
      CHECK(identical(phi.keys, expected.keys));
      CHECK(identical(arma::Mat<T>(phi.log_scale), arma::Mat<T>(expected.log_scale)));
    }
  }
}

TEST_CASE("FeaturePair: what does not fit is refused") {
  const arma::mat x(3, 2, arma::fill::ones), wide(3, 4, arma::fill::ones);
  const auto make = [&](const arma::mat& y, arma::uword d, FeatureOptions options) {
    return refusal([&] { FeaturePair<double>(x, y, d, options, Key(1)); });
  };
  CHECK(contains(make(x, 0, {}), "d >= 1, got d = 0"));
  CHECK(contains(make(x, 5, {FeatureMap::trf, ProjectionDistribution::iid, 0}),
                 "an even d, two functions a direction, got map = trf"));
  CHECK(contains(make(x, 5, {FeatureMap::hyperbolic, ProjectionDistribution::iid, 0}), "d = 5"));
  CHECK(make(x, 5, {FeatureMap::sphere, ProjectionDistribution::iid, 0}) == "nothing was thrown");
  for (const double epsilon : {-1.0, std::numeric_limits<double>::infinity()}) {
    CHECK(contains(make(x, 4, {FeatureMap::prf, ProjectionDistribution::iid, epsilon}), "epsilon >= 0 and finite"));
  }
  CHECK(contains(make(x, 4, {FeatureMap::trf, ProjectionDistribution::iid, 1e-4}), "epsilon goes with positive maps"));
  CHECK(contains(make(wide, 4, {}), "points of one width"));
}

TEST_CASE("FeaturePair: sphere with sorf is refused as often as a direction is 0") {
  // The first p of p' columns are kept. Over all signs a block of p' = 4 directions has a zero among them with
  // probability 1/4 at p = 3, one of 8 with 9/64 at p = 5 and 3/64 at p = 6.
  constexpr double trials = 2000;
  const auto refused = [](arma::uword p) {
    const arma::mat points(3, p, arma::fill::ones);
    const Key key = Key(test_seed()).child("zero directions").child(p);
    const FeatureOptions options{FeatureMap::sphere, ProjectionDistribution::sorf, 0};
    int count = 0;
    for (std::uint64_t draw = 0; draw < trials; ++draw) {
      count +=
          contains(refusal([&] { FeaturePair<double>(points, points, 8, options, key.child(draw)); }), "of norm 0");
    }
    return count;
  };
  CHECK(is_binomial(refused(3), trials, 1 - 0.75 * 0.75, kFailure / 3));  // 8 directions in two blocks
  CHECK(is_binomial(refused(5), trials, 9.0 / 64, kFailure / 3));
  CHECK(is_binomial(refused(6), trials, 3.0 / 64, kFailure / 3));
  for (const arma::uword p : {1, 2, 4, 7, 8}) CHECK(refused(p) == 0);
}

TEST_CASE("FeaturePair: no points, and an adjoint of a temporary") {
  const arma::mat points = random_matrix<double>(4, 3, Key(test_seed()).child("points")), none(0, 3);
  CHECK(refusal([&] { FeaturePair<double>(none, points, 8, {}, Key(1)); }) ==
        "features: points of one width, one at least of each, got x.rows = 0, x.cols = 3, y.rows = 4, y.cols = 3");
  CHECK(contains(refusal([&] { FeaturePair<double>(points, none, 8, {}, Key(1)); }), "y.rows = 0"));
  // It refers to the pair.
  static_assert(std::is_constructible_v<FeatureAdjoint<double>, const FeaturePair<double>&>);
  static_assert(!std::is_constructible_v<FeatureAdjoint<double>, FeaturePair<double>>);
}

TEST_CASE_TEMPLATE("FeaturePair: points whose sums x + y are all zero, up to rounding", T, float, double) {
  // The mean of ||x + y||^2, of which a is a function, is a difference that may round to less than 0.
  for (std::uint64_t t = 0; t < 50; ++t) {
    const arma::Row<T> point = random_matrix<T>(1, 5, Key(test_seed()).child("opposite").child(t));
    const arma::Mat<T> x = arma::repmat(point, 7, 1), y = arma::repmat(-point, 9, 1);
    const FeaturePair<T> pair(x, y, 4, {FeatureMap::oprf, ProjectionDistribution::iid, 0}, Key(t));
    CHECK(pair.attend(arma::Mat<T>(9, 1, arma::fill::ones)).output.is_finite());
  }
}

TEST_CASE_TEMPLATE("FeatureAdjoint: of saderf at points of zero, which are not balanced", T, float, double) {
  const arma::Mat<T> zero(3, 2, arma::fill::zeros), points = random_matrix<T>(4, 2, Key(test_seed()));
  for (const auto& [x, y] : {std::pair{zero, points}, {points, zero}, {zero, zero}}) {
    const FeaturePair<T> pair(x, y, 4, {FeatureMap::saderf, ProjectionDistribution::iid, 0}, Key(1));
    const auto derivatives = FeatureAdjoint<T>(pair).finish();  // of nothing
    CHECK(derivatives.x.is_zero());
    CHECK(derivatives.y.is_zero());
  }
}
