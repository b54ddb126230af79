#include <doctest/doctest.h>
#include <croquis/attention/nprf.hpp>
#include <croquis/attention/performer.hpp>
#include <croquis/features/feature_pair.hpp>

#include <cmath>
#include <functional>

#include "support/attention.hpp"
#include "support/features.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kDirections = 64;
constexpr std::uint64_t kDraws = 4000;
constexpr double kDeviations = 7;

// D~_i / D_i for independent directions w is the mean over them of h(w) = sum_j b_ij g_j(w), where
//   g_j(w) = (1-4a)^{p/2} exp(2a |w|^2 + sqrt(1-4a) w.s_j - |s_j|^2 / 2),  s_j = x_i + y_j,  a = 0 for prf.
// Returns E[h^k] - its sum over all k-tuples j, of which each is a Gaussian integral:
//   E[prod g_j] = (1-4a)^{kp/2} (1-4ka)^{-p/2} exp((1-4a) |sum s_j|^2 / (2 (1-4ka)) - sum |s_j|^2 / 2).
double moment(int k, const arma::mat& s, const arma::rowvec& b, double a) {
  const auto p = static_cast<double>(s.n_cols);
  const double inner = 1 - 4 * a, outer = 1 - 4 * k * a;
  const std::function<double(int, const arma::rowvec&, double, double)> over = [&](int left, const arma::rowvec& sum,
                                                                                   double squares, double weight) {
    if (left == 0) return weight * std::exp(inner * arma::dot(sum, sum) / (2 * outer) - squares / 2);
    double total = 0;
    for (arma::uword j = 0; j < s.n_rows; ++j) {
      total += over(left - 1, sum + s.row(j), squares + arma::dot(s.row(j), s.row(j)), weight * b(j));
    }
    return total;
  };
  return std::pow(inner, k * p / 2) * std::pow(outer, -p / 2) *
         over(k, arma::rowvec(s.n_cols, arma::fill::zeros), 0, 1);
}

// E[D~] = D over 4000 draws of 64 independent directions, against the deviation that the moments of h give. They are
// known beforehand, so nothing of the sample enters: a skew sample cannot spoil its own test. The mean of N = 256,000
// values of h is normal in the tail at z = 7 up to a factor exp(z^3 g / 6 + z^4 k / 24), g = skewness / sqrt(N) and k =
// kurtosis / N: 6 at most with what is required here. P(|z| > 7) = 2.6e-12, so that a row fails with probability 2e-11.
bool row_sums_are(const std::function<Approximation<double>(const Key&)>& method, const arma::mat& x,
                  const arma::mat& y, double a) {
  const ThreadCount one(1);
  const arma::mat scores = arma::exp(x * y.t());
  const arma::vec sums = arma::sum(scores, 1);
  arma::vec mean(x.n_rows, arma::fill::zeros);
  const Key root = Key(test_seed()).child("row sums");
  for (std::uint64_t t = 0; t < kDraws; ++t) {
    const auto d = method(root.child(t)).denominators.value();
    mean += d.values % arma::exp(d.log_scale) / sums / static_cast<double>(kDraws);
  }
  const double n = static_cast<double>(kDraws * kDirections);
  for (arma::uword i = 0; i < x.n_rows; ++i) {
    const arma::mat s = y.each_row() + x.row(i);
    const arma::rowvec b = scores.row(i) / sums(i);
    REQUIRE(moment(1, s, b, a) == doctest::Approx(1).epsilon(1e-12));
    const double m2 = moment(2, s, b, a), m3 = moment(3, s, b, a), m4 = moment(4, s, b, a), variance = m2 - 1;
    REQUIRE((m3 - 3 * m2 + 2) / std::pow(variance, 1.5) / std::sqrt(n) <= 0.03);
    REQUIRE((m4 - 4 * m3 + 6 * m2 - 3) / (variance * variance) / n <= 0.001);
    if (std::abs(mean(i) - 1) > kDeviations * std::sqrt(variance / n)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE_TEMPLATE("performer: rows of features over their sums, for every map and projection", T, float, double) {
  for (const FeatureMap map : kAllMaps) {
    for (const std::string& distribution : projection_names()) {
      CAPTURE(name_of(map));
      CAPTURE(distribution);
      // All 6 of the 8 columns of sorf that are kept can be 0, and such directions are refused with sphere.
      const arma::uword p = map == FeatureMap::sphere && distribution == "sorf" ? 8 : 6;
      const Problem<T> problem = random_problem<T>(12, p, 3, 2, Key(test_seed()).child("rows"));
      const long double scale = std::pow(static_cast<long double>(p), -0.25L);
      const Key draw_key = Key(test_seed()).child(distribution);
      const auto approximation = performer(problem, 24, draw_key, {map, projection_distribution(distribution), 0});
      const Dense w = Projection<T>(projection_distribution(distribution), has_two_functions(map) ? 12 : 24, p,
                                    draw_key.child("features"))
                          .dense();
      const Dense a = plain_scores(map, w, scale * Dense(problem.Q()), scale * Dense(problem.K()));
      for (arma::uword i = 0; i < 12; ++i) {
        long double sum = 0, size = 0;
        for (arma::uword j = 0; j < 12; ++j) {
          sum += a(i, j);
          size += std::fabs(a(i, j));
        }
        // Features are off by c u relatively, c of an exponent's size: 8 (p + 8) (|w| + |x| + |y|)^2 u. Sines and
        // cosines add terms as large as e^{(|x|^2 + |y|^2)/2} that cancel: their rows are compared against that.
        const double length = largest_row(w) + 2 * largest_point(problem) + 2;
        const double amplitude =
            map == FeatureMap::trf ? 12 * std::exp(std::pow(largest_point(problem), 2)) : static_cast<double>(size);
        const double error = 8 * static_cast<double>(p + 8) * length * length * unit<T>() * amplitude /
                             static_cast<double>(std::fabs(sum));
        const auto& d = approximation.denominators.value();
        const long double denominator =
            static_cast<long double>(d.values(i)) * std::exp(static_cast<long double>(d.log_scale(i)));
        CHECK(std::abs(static_cast<double>(denominator / sum) - 1) <= error);
        for (arma::uword c = 0; c < 3; ++c) {
          long double value = 0;
          for (arma::uword j = 0; j < 12; ++j) value += a(i, j) * static_cast<long double>(problem.V()(j, c));
          CHECK(std::abs(static_cast<double>(static_cast<long double>(approximation.output(i, c)) - value / sum)) <=
                2 * error * (1 + static_cast<double>(size / std::fabs(sum))) *
                    static_cast<double>(largest_entry_of(problem.V())));
        }
      }
    }
  }
}

TEST_CASE("performer: E[D~] is the row sums of exp(q.k / sqrt(p)); p^{-1/4} twice and not at all are rejected") {
  const Problem<double> problem = random_problem<double>(5, 4, 1, 0.7, Key(21));
  const arma::mat x = problem.Q() / std::sqrt(2.0), y = problem.K() / std::sqrt(2.0);
  for (const FeatureMap map : {FeatureMap::prf, FeatureMap::oprf}) {
    const FeatureOptions options{map, ProjectionDistribution::iid, 0};
    const double a = FeaturePair<double>(x, y, kDirections, options, Key(1)).exponent();
    CHECK((a == 0) == (map == FeatureMap::prf));
    const auto times = [&](double factor) {
      const Problem<double> scaled(factor * problem.Q(), factor * problem.K(), problem.V());
      return [=](const Key& draw_key) { return performer(scaled, kDirections, draw_key, options); };
    };
    CHECK(row_sums_are(times(1), x, y, a));
    CHECK_FALSE(row_sums_are(times(std::pow(4.0, -0.25)), x, y, a));
    CHECK_FALSE(row_sums_are(times(std::pow(4.0, 0.25)), x, y, a));
  }
}

TEST_CASE("nprf: E[D~] is the row sums of exp of cosines, and p^{-1/4} after the normalisation is rejected") {
  const Problem<double> problem = random_problem<double>(5, 4, 1, 3, Key(22));
  const arma::mat x = arma::normalise(problem.Q(), 2, 1), y = arma::normalise(problem.K(), 2, 1);
  // Features of oprf are bounded; those of prf, with ||x + y||^2 up to 4, are too skew.
  const FeatureOptions options{FeatureMap::oprf, ProjectionDistribution::iid, 0};
  const double a = FeaturePair<double>(x, y, kDirections, options, Key(1)).exponent();
  CHECK(row_sums_are([&](const Key& s) { return nprf(problem, kDirections, s, options); }, x, y, a));
  CHECK_FALSE(row_sums_are(
      [&](const Key& s) { return performer(Problem<double>(x, y, problem.V()), kDirections, s, options); }, x, y, a));
}

TEST_CASE_TEMPLATE("nprf: norms do not count, zero rows are the mean of the values", T, float, double) {
  const Problem<T> problem = random_problem<T>(15, 4, 2, 3, Key(test_seed()).child("norms"));
  arma::Mat<T> q = problem.Q(), k = problem.K();
  q.row(2).zeros();
  const Key draw_key = Key(test_seed()).child("draw");
  const auto expected = nprf(Problem<T>(q, k, problem.V()), 32, draw_key);
  CHECK(identical(nprf(Problem<T>(T(1024) * q, k / T(64), problem.V()), 32, draw_key).output, expected.output));
  CHECK(expected.output.is_finite());
  // All keys zero: every score is 1 whatever is drawn.
  const auto mean = nprf(Problem<T>(q, arma::Mat<T>(15, 4, arma::fill::zeros), problem.V()), 32, draw_key);
  CHECK(distance(mean.output, arma::repmat(arma::mean(problem.V(), 0), 15, 1)) <=
        60 * unit<T>() * static_cast<double>(largest_entry_of(problem.V())));
}

TEST_CASE_TEMPLATE("performer and nprf: norms of 100 and 10,000, with every map, give no NaN", T, float, double) {
  for (const double norm : {100.0, 1e4}) {
    const Problem<T> problem = random_problem<T>(40, 8, 2, norm, Key(test_seed()).child("large"));
    for (const FeatureMap map : kAllMaps) {
      for (const bool unit_length : {false, true}) {
        const FeatureOptions options{map, ProjectionDistribution::haar, 0};
        const auto approximation =
            unit_length ? nprf(problem, 32, Key(1), options) : performer(problem, 32, Key(1), options);
        CAPTURE(name_of(map));
        CHECK(approximation.output.is_finite());
        if (map == FeatureMap::trf) continue;
        CHECK(approximation.output.max() <= problem.V().max() + T(1e-3));  // means of values
        CHECK(approximation.output.min() >= problem.V().min() - T(1e-3));
      }
    }
  }
}

TEST_CASE_TEMPLATE("performer: epsilon pulls rows to the mean of the values, and the preset code has it", T, float,
                   double) {
  const Problem<T> problem = random_problem<T>(30, 8, 2, 6, Key(test_seed()).child("epsilon"));
  const arma::Mat<T> mean = arma::repmat(arma::mean(problem.V(), 0), 30, 1);
  const auto distance_at = [&](double epsilon) {
    return distance(performer(problem, 64, Key(3), {FeatureMap::prf, ProjectionDistribution::haar, epsilon}).output,
                    mean);
  };
  CHECK(distance_at(1) < 0.1 * distance_at(0));
  const Method<T>& method = find_method<T>("performer");
  const auto with = [&](const std::map<std::string, std::string>& values) {
    return prepare(method, problem, OptionValues(values)).approximate(64, Key(3)).output;
  };
  CHECK(identical(with({{"preset", "code"}}), with({{"epsilon", "1e-4"}})));
  CHECK(identical(with({}), performer(problem, 64, Key(3)).output));
  CHECK_FALSE(identical(with({{"preset", "code"}}), with({})));
  CHECK(contains(refusal([&] { with({{"map", "trf"}, {"epsilon", "0.1"}}); }), "epsilon goes with positive maps"));
  CHECK(contains(refusal([&] {
                   prepare(method, problem, OptionValues(std::map<std::string, std::string>{{"map", "trf"}}))
                       .approximate(7, Key(1));
                 }),
                 "d = 7"));
}
