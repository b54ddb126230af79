// Errors of random features as rows, against sums over pairs.
#include <doctest/doctest.h>

#include <cmath>
#include <croquis/measure/feature_variance.hpp>

#include "support/seed.hpp"

using namespace croquis;

namespace {

Key key_of(const char* name) {
  return Key(test_seed()).child("variance").child(name);
}

}  // namespace

TEST_CASE("sphere_points: rows of the norm, queries and keys apart") {
  const FeaturePoints points = sphere_points(5, 7, 4, 0.8, key_of("points"));
  REQUIRE(arma::size(points.x) == arma::SizeMat(5, 4));
  REQUIRE(arma::size(points.y) == arma::SizeMat(7, 4));
  for (arma::uword i = 0; i < 5; ++i) CHECK(std::abs(arma::norm(points.x.row(i)) - 0.8) <= 1e-14);
  for (arma::uword j = 0; j < 7; ++j) CHECK(std::abs(arma::norm(points.y.row(j)) - 0.8) <= 1e-14);
  CHECK(arma::abs(points.x - points.y.head_rows(5)).max() > 0.1);
}

TEST_CASE("feature_variance: a row is the errors of the estimates, pair by pair") {
  const FeaturePoints points = sphere_points(5, 7, 4, 0.8, key_of("points"));
  for (const FeatureMap map : {FeatureMap::prf, FeatureMap::trf}) {
    CAPTURE(std::string(name_of(map)));
    FeatureOptions options;
    options.map = map;
    const Key key = key_of("draw");
    const auto features = FeaturePair<double>(points.x, points.y, 16, options, key).matrices();
    double l1 = 0, squared = 0, lemma_2 = 0;
    for (arma::uword i = 0; i < 5; ++i) {
      double exact[7], estimate[7], exact_sum = 0, sum = 0;
      for (arma::uword j = 0; j < 7; ++j) {
        exact[j] = std::exp(arma::dot(points.x.row(i), points.y.row(j)));
        estimate[j] = std::exp(features.log_scale(i)) * arma::dot(features.queries.row(i), features.keys.row(j));
        exact_sum += exact[j];
        sum += estimate[j];
        squared += std::pow(estimate[j] / exact[j] - 1, 2) / 35;
        const double length = arma::norm(points.x.row(i) + points.y.row(j));
        lemma_2 += (std::exp(length * length) - 1) / 16 / 35;
      }
      for (arma::uword j = 0; j < 7; ++j) l1 += std::abs(exact[j] / exact_sum - estimate[j] / sum) / 5;
    }
    const VarianceRow row = feature_variance(points, 16, options, key);
    CHECK(row.status == "ok");
    CHECK(row.p == 4);
    CHECK(row.queries == 5);
    CHECK(row.keys == 7);
    CHECK(row.features == 16);
    CHECK(row.l1_error == doctest::Approx(l1).epsilon(1e-10));
    CHECK(row.squared_error == doctest::Approx(squared).epsilon(1e-10));
    if (map == FeatureMap::prf) {
      CHECK(row.lemma_2 == doctest::Approx(lemma_2).epsilon(1e-10));
    } else {
      CHECK(std::isnan(row.lemma_2));
    }
  }
  FeatureOptions blocks;
  blocks.projection = ProjectionDistribution::orthogonal;
  CHECK(std::isnan(feature_variance(points, 16, blocks, key_of("draw")).lemma_2));
}

TEST_CASE("feature_variance: a query that sees the first keys alone has their row") {
  const FeaturePoints all = sphere_points(3, 7, 4, 0.8, key_of("points"));
  FeaturePoints some = all;
  some.seen = {2, 7, 5};
  const VarianceRow row = feature_variance(some, 16, {}, key_of("draw"));
  double l1 = 0, squared = 0, lemma_2 = 0;
  for (arma::uword i = 0; i < 3; ++i) {
    const FeaturePoints one = {all.x.row(i), all.y.head_rows(some.seen[i])};
    const VarianceRow own = feature_variance(one, 16, {}, key_of("draw"));
    l1 += own.l1_error / 3;
    squared += own.squared_error / 3;
    lemma_2 += own.lemma_2 / 3;
  }
  CHECK(row.l1_error == doctest::Approx(l1).epsilon(1e-12));
  CHECK(row.squared_error == doctest::Approx(squared).epsilon(1e-12));
  CHECK(row.lemma_2 == doctest::Approx(lemma_2).epsilon(1e-12));
}

TEST_CASE("feature_variance: keys beside which all that a query sees vanish change nothing for it") {
  arma::mat keys(20, 4, arma::fill::zeros);
  keys.head_rows(19).col(0).fill(60);
  const FeaturePoints both = {arma::mat(2, 4, arma::fill::ones), keys, {19, 19}};
  const FeaturePoints first = {both.x, keys.head_rows(19)};
  const VarianceRow row = feature_variance(both, 64, {}, key_of("far")),
                    own = feature_variance(first, 64, {}, key_of("far"));
  CHECK(row.status == "ok");
  CHECK(row.l1_error == doctest::Approx(own.l1_error).epsilon(1e-12));
  CHECK(row.squared_error == doctest::Approx(own.squared_error).epsilon(1e-12));
}

TEST_CASE("feature_variance: keys beside which all that a query sees is nearly lost change nothing for it") {
  // Features of a key of norm r are about exp(-r^2 / 2) of those of the key 0: for some r, and some draws, sums are
  // subnormal numbers. Exponents of at most r^2 + r |w| < 2500 are rounded by 2500 u, some ten times; so are weights.
  const double bound = 1e-11;
  arma::mat x(1, 2), keys(3, 2, arma::fill::zeros);
  x(0, 0) = 0.4;
  x(0, 1) = 0.2;
  for (int step = 0; step < 60; ++step) {
    const double r = 36 + 0.05 * step;
    CAPTURE(r);
    keys(0, 0) = r;
    keys(1, 0) = r * std::cos(0.01);
    keys(1, 1) = r * std::sin(0.01);
    for (int draw = 0; draw < 10; ++draw) {
      const Key key = key_of("nearly").child(static_cast<std::uint64_t>(draw));
      const VarianceRow row = feature_variance({x, keys, {2}}, 4, {}, key),
                        own = feature_variance({x, keys.head_rows(2)}, 4, {}, key);
      CHECK(row.status == own.status);
      CHECK(std::abs(row.l1_error - own.l1_error) <= bound);
    }
  }
}

TEST_CASE("feature_variance: what fails is a status without numbers") {
  FeatureOptions options;
  options.map = FeatureMap::trf;  // two features a direction
  const VarianceRow row = feature_variance(sphere_points(2, 2, 3, 1, key_of("odd")), 15, options, Key(1));
  CHECK(row.status != "ok");
  CHECK(std::isnan(row.l1_error));
  CHECK(std::isnan(row.lemma_2));
}

TEST_CASE("feature_variance: an estimate that vanishes beside another key's is 0, not undefined") {
  const double far = 60 / std::sqrt(2.0);  // after p^{-1/4}
  FeaturePoints points{arma::mat(1, 4, arma::fill::zeros), arma::mat(2, 4, arma::fill::zeros), {}};
  points.x(0, 0) = far;
  points.y(0, 0) = -far;
  points.y(1, 0) = 0.07;
  const VarianceRow row = feature_variance(points, 16, {}, Key(3));
  CHECK(row.status == "ok");
  CHECK(std::isfinite(row.squared_error));
  CHECK(std::isfinite(row.l1_error));
}

TEST_CASE("feature_variance: numbers of seen keys that the points do not have are refused") {
  FeaturePoints points = sphere_points(3, 5, 2, 1, Key(1));
  const auto status = [&](arma::uvec seen) {
    points.seen = std::move(seen);
    return feature_variance(points, 4, {}, Key(2)).status;
  };
  const std::string rule = "feature_variance: a number of seen keys for each query, from 1 to all, got seen = ";
  CHECK(status({1, 5, 2}) == "ok");
  CHECK(status({5, 5}) == rule + "2, queries = 3, keys = 5");
  CHECK(status({1, 6, 2}) == rule + "3, queries = 3, keys = 5");
  CHECK(status({0, 5, 2}) == rule + "3, queries = 3, keys = 5");
}
