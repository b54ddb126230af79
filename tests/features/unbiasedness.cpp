// Means and variances of feature products, for every map and projection.
#include <doctest/doctest.h>
#include <croquis/features/feature_pair.hpp>
#include <croquis/stats/accumulator.hpp>

#include <bit>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <functional>

#include "support/dense.hpp"
#include "support/features.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

// The intervals are of this many standard errors that come from the sample itself. If N estimates have the skewness g,
// their mean is then below the expected value by so much with the normal tail times exp(z^3 g / (3 sqrt(N))) (twice the
// exponent of a known variance, on the opposite side), and Student's tail at 7.5 is 1.5 (3.2e-14). The largest g are
// those of prf and hyperbolic: 1.4 for iid (6.2, that of a log-normal number with sigma^2 = 1, over sqrt(20)) and up to
// 2.0 for halton, of 20,000 draws. With N = 2000 and g = 2.5 the factor is 2600 and an interval fails with probability
// 1.3e-10; with g = 1.8, of haar, it is 360 and 2e-11. Six of the first kind and 12 of the second make 1e-9.
constexpr double kStandardErrors = 7.5;
constexpr arma::uword kCellWidth = 8, kCellDirections = 20;  // two blocks of 8 directions and half of one
constexpr std::size_t kTrials = 2000;

// Pairs with x.y = 0, so that the exact value is 1: z = x + y of length 1 along 1/sqrt(p), -1/sqrt(p) and a direction
// without symmetry, x - y of length 1 orthogonal to it.
struct Points {
  arma::mat x = arma::mat(3, kCellWidth), y = arma::mat(3, kCellWidth);

  Points() {
    for (arma::uword k = 0; k < 3; ++k) {
      arma::vec z(kCellWidth, arma::fill::ones);
      if (k == 2) z = random_matrix(kCellWidth, 1, Key(4).child("z"));
      z = arma::normalise(z) * (k == 1 ? -1 : 1);
      arma::vec g = random_matrix(kCellWidth, 1, Key(5).child(k));
      g = arma::normalise(g - arma::dot(g, z) * z);
      x.row(k) = 0.5 * (z + g).t();
      y.row(k) = 0.5 * (z - g).t();
    }
  }
};

using Estimate = std::function<arma::vec(const Key&)>;  // of the three pairs

// Accumulators of the three estimates over independent random keys; the same for any number of threads.
std::array<Accumulator, 3> sample_of(const Estimate& estimate, std::size_t trials = kTrials) {
  arma::mat values(3, trials);
  const Key root = Key(test_seed()).child("unbiased");
  parallel_for(trials, [&](std::size_t t) { values.col(t) = estimate(root.child(t)); });
  std::array<Accumulator, 3> all;
  for (arma::uword t = 0; t < trials; ++t) {
    for (arma::uword k = 0; k < 3; ++k) all[k].add(values(k, t));
  }
  return all;
}

bool mean_is(const Accumulator& sample, double expected) {
  return std::abs(sample.mean() - expected) <= kStandardErrors * sample.standard_error();
}

bool means_are(const Estimate& estimate, const std::array<double, 3>& expected) {
  const std::array<Accumulator, 3> sample = sample_of(estimate);
  for (std::size_t k = 0; k < 3; ++k) {
    if (!mean_is(sample[k], expected[k])) return false;
  }
  return true;
}

constexpr std::array<double, 3> kOnes = {1, 1, 1};

std::array<double, 3> diagonal_of(const Dense& m) {
  return {static_cast<double>(m(0, 0)), static_cast<double>(m(1, 1)), static_cast<double>(m(2, 2))};
}

Estimate estimates_of(FeatureMap map, ProjectionDistribution distribution, const Points& points) {
  return [=](const Key& draw_key) {
    const arma::uword d = has_two_functions(map) ? 2 * kCellDirections : kCellDirections;
    const auto phi = FeaturePair<double>(points.x, points.y, d, {map, distribution, 0}, draw_key).matrices();
    return arma::vec(arma::exp(phi.log_scale) % arma::sum(phi.queries % phi.keys, 1));
  };
}

// prf with the W that is drawn, by its formula.
Estimate plain_prf(const std::function<arma::mat(const Key&)>& draw, const Points& points) {
  return [=](const Key& draw_key) {
    const arma::mat w = draw(draw_key);
    arma::vec values(3);
    for (arma::uword k = 0; k < 3; ++k) {
      const arma::rowvec z = points.x.row(k) + points.y.row(k);
      const double halves =
          (arma::dot(points.x.row(k), points.x.row(k)) + arma::dot(points.y.row(k), points.y.row(k))) / 2;
      values(k) = arma::mean(arma::exp(w * z.t())) * std::exp(-halves);
    }
    return values;
  };
}

arma::mat haar_of(const Key& draw_key) {
  return Projection<double>(ProjectionDistribution::haar, kCellDirections, kCellWidth, draw_key).dense();
}

arma::mat unfixed(const Key& draw_key) {
  arma::mat all;
  for (std::uint64_t b = 0; b < 3; ++b) {
    arma::mat q, r;
    arma::qr(q, r, random_matrix(kCellWidth, kCellWidth, draw_key.child(b)));
    const arma::mat norms = random_matrix(kCellWidth, kCellWidth, draw_key.child("norms").child(b));
    all = arma::join_cols(all, arma::mat(arma::diagmat(arma::sqrt(arma::sum(arma::square(norms), 1))) * q.t()));
  }
  return all.head_rows(kCellDirections);
}

}  // namespace

TEST_CASE("features: unbiased for iid, haar and halton with every map but sphere") {
  const Points points;
  for (const FeatureMap map : kAllMaps) {
    if (map == FeatureMap::sphere) continue;
    for (const ProjectionDistribution distribution :
         {ProjectionDistribution::iid, ProjectionDistribution::haar, ProjectionDistribution::halton}) {
      CAPTURE(name_of(map));
      CAPTURE(name_of(distribution));
      CHECK(means_are(estimates_of(map, distribution, points), kOnes));
    }
  }
}

TEST_CASE("features: sphere, and every map on orthogonal directions without norms, have the mean of the sphere") {
  const Points points;
  for (const FeatureMap map : kAllMaps) {
    CAPTURE(name_of(map));
    const std::array<double, 3> means = diagonal_of(sphere_means(map, points.x, points.y));
    CHECK(means_are(estimates_of(map, ProjectionDistribution::orthogonal, points), means));
    if (map != FeatureMap::sphere) continue;
    for (const ProjectionDistribution distribution :
         {ProjectionDistribution::iid, ProjectionDistribution::haar, ProjectionDistribution::halton}) {
      CHECK(means_are(estimates_of(map, distribution, points), means));
    }
    // 1 - 1 / (4 (p + 2)) and the next term: the header's first-order formula.
    CHECK(means[0] == doctest::Approx(1 - 1.0 / 40).epsilon(0.005));
  }
}

TEST_CASE("features: means with the mutants of the projection are rejected") {
  const Points points;
  CHECK(means_are(plain_prf(haar_of, points), kOnes));
  // Without sign(diag R) the means along +-1/sqrt(p) are 0.81 and 1.19; the intervals are 0.05 wide to either side.
  CHECK_FALSE(means_are(plain_prf(unfixed, points), kOnes));
  const auto sample = sample_of(plain_prf(unfixed, points));
  CHECK(sample[0].mean() == doctest::Approx(0.815).epsilon(0.05));
  CHECK(sample[1].mean() == doctest::Approx(1.187).epsilon(0.05));
  // No chi_p norms: rows of length 1 instead.
  CHECK_FALSE(
      means_are(plain_prf([](const Key& s) { return arma::mat(arma::normalise(haar_of(s), 2, 1)); }, points), kOnes));
  // sqrt(2) once too often, as when p^{1/4} is forgotten for p = 4.
  CHECK_FALSE(means_are(plain_prf([](const Key& s) { return arma::mat(std::sqrt(2.0) * haar_of(s)); }, points), kOnes));
  // One block for all: every estimate has the right mean, and the variance of the mean does not fall with m. Not a
  // bias; it must be seen in the blocks themselves.
  const arma::mat w = haar_of(Key(test_seed()));
  CHECK(distance(arma::mat(w.rows(0, 3)), arma::mat(w.rows(8, 11))) > 0.1);
}

TEST_CASE("features: sorf at p = 3 has the mean over all 4096 patterns of signs") {
  ThreadCount one(1);
  constexpr arma::uword p = 3, width = 4;
  const arma::mat x = {{0.5, 0.3, -0.2}}, y = {{0.4, -0.6, 0.1}};
  const arma::rowvec z = x.row(0) + y.row(0);
  const double halves = (arma::dot(x, x) + arma::dot(y, y)) / 2;
  const auto hadamard = [](const std::array<double, width>& v) {
    std::array<double, width> h{};
    for (unsigned i = 0; i < width; ++i) {
      for (unsigned j = 0; j < width; ++j) h[i] += std::popcount(i & j) % 2 == 0 ? v[j] : -v[j];
    }
    return h;
  };
  double expected = 0;
  for (unsigned pattern = 0; pattern < 4096; ++pattern) {
    std::array<double, width> v = {z(0), z(1), z(2), 0};
    for (unsigned k = 0; k < 3; ++k) {
      for (unsigned c = 0; c < width; ++c) v[c] *= pattern >> (width * k + c) & 1 ? -1 : 1;
      v = hadamard(v);
    }
    for (const double u : v) expected += std::exp(u / width - halves) / (4096.0 * width);
  }
  Accumulator sample;
  const Key root = Key(test_seed()).child("sorf");
  for (std::uint64_t t = 0; t < 20000; ++t) {
    const auto phi =
        FeaturePair<double>(x, y, 6, {FeatureMap::prf, ProjectionDistribution::sorf, 0}, root.child(t)).matrices();
    sample.add(std::exp(phi.log_scale(0)) * arma::dot(phi.queries, phi.keys));
  }
  CHECK(p == z.n_elem);
  CHECK(mean_is(sample, expected));
  CHECK_FALSE(mean_is(sample, 1.1 * expected));
}

TEST_CASE("features: the variance of prf is that of Performer's Lemma 2, of oprf its own formula") {
  // One draw of m features is m independent estimates v_r = m e^{log_scale} phi_r(x) phi_r(y).
  constexpr arma::uword m = 400000;
  const arma::mat x = {{0.2, 0.1, -0.1, 0.1, 0, 0.05, -0.05, 0.05}}, y = {{0.15, 0.15, -0.1, 0.1, 0.05, 0, -0.05, 0.1}};
  const double product = arma::dot(x, y), z2 = arma::dot(x + y, x + y), squares = arma::dot(x, x) + arma::dot(y, y);
  const auto values_of = [&](FeatureMap map, double* a) {
    const FeaturePair<double> pair(x, y, m, {map, ProjectionDistribution::iid, 0}, Key(test_seed()).child("variance"));
    *a = pair.exponent();
    const auto phi = pair.matrices();
    return arma::vec(std::exp(phi.log_scale(0) + std::log(m)) * (phi.queries % phi.keys).t());
  };
  // The variance of the sample variance is (mu_4 - sigma^4) / m, mu_4 of the distribution: v is log-normal for prf.
  // With sigma^2 = 0.3 its skewness is below 0.04, which costs the tail at z = 6.1 a factor exp(0.04 z^3 / 6) = 5:
  // failure 5e-9 at most.
  const auto accepts = [&](const arma::vec& v, double variance, double fourth) {
    const double deviation = std::sqrt((fourth - variance * variance) / m);
    const double quantile = boost::math::quantile(boost::math::complement(boost::math::normal(), kFailure / 2));
    return std::abs(arma::var(v) - variance) <= quantile * deviation;
  };
  double a = 0;
  const arma::vec prf = values_of(FeatureMap::prf, &a);
  CHECK(a == 0);
  const auto moment = [&](double k) { return std::exp(k * k * z2 / 2 - k * squares / 2); };  // E v^k
  const double mean = moment(1);
  CHECK(mean == doctest::Approx(std::exp(product)).epsilon(1e-12));
  const double fourth = moment(4) - 4 * mean * moment(3) + 6 * mean * mean * moment(2) - 3 * mean * mean * mean * mean;
  const double lemma = (std::exp(z2) - 1) * std::exp(2 * product);
  CHECK(accepts(prf, lemma, fourth));
  CHECK_FALSE(accepts(prf, std::exp(z2) * std::exp(2 * product), fourth));                           // no -1
  CHECK_FALSE(accepts(prf, (std::exp(squares - 2 * product) - 1) * std::exp(2 * product), fourth));  // ||x - y||
  CHECK_FALSE(accepts(prf, (std::exp(z2) - 1) * std::exp(product), fourth));                         // e^{x.y}

  const arma::vec oprf = values_of(FeatureMap::oprf, &a);
  CHECK(a < 0);
  const auto log_moment = [&](double k) {  // log E v^k, v = D^2 exp(2a|w|^2 + B w.z - squares / 2)
    const double b2 = 1 - 4 * a, p = kCellWidth;
    return k * (p / 2 * std::log(b2) - squares / 2) - p / 2 * std::log(1 - 4 * a * k) +
           k * k * b2 * z2 / (2 * (1 - 4 * a * k));
  };
  CHECK(log_moment(1) == doctest::Approx(product).epsilon(1e-12));
  const double second = std::pow(1 - 4 * a, kCellWidth) * std::pow(1 - 8 * a, -0.5 * kCellWidth) *
                        std::exp(2 * (1 - 4 * a) / (1 - 8 * a) * z2 - squares);  // the header's formula
  const double oprf_variance = second - mean * mean;
  const double oprf_fourth = std::exp(log_moment(4)) - 4 * mean * std::exp(log_moment(3)) + 6 * mean * mean * second -
                             3 * mean * mean * mean * mean;
  CHECK(oprf_variance < 0.95 * lemma);
  CHECK(accepts(oprf, oprf_variance, oprf_fourth));
  CHECK_FALSE(accepts(oprf, lemma, oprf_fourth));
}
