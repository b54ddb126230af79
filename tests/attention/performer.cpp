#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/nprf.hpp>
#include <croquis/attention/performer.hpp>
#include <croquis/stats/intervals.hpp>

#include <cmath>

#include "support/attention.hpp"
#include "support/features.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr double kFailure = 1e-9;  // of one check; its rows share it

// E[D~] = row sums of exp(x.y) over 4000 independent draws of 64 features. Student's interval takes means to be normal;
// with a skewness of the sample of at most 4 that of the mean is 0.063, and at z = 6.4 the tail of the normal law is
// off by a factor exp(0.063 z^3 / 6) = 16: a row fails with probability 16 kFailure / 5 at most.
bool row_sums_are(const std::function<Approximation<double>(const Stream&)>& method,
                  const std::vector<long double>& log_sums) {
  const ThreadCount one(1);
  std::vector<Accumulator> sample(log_sums.size());
  const Stream root = Stream(test_seed()).child("row sums");
  for (std::uint64_t t = 0; t < 4000; ++t) {
    const auto d = method(root.child(t)).denominators.value();
    for (std::size_t i = 0; i < sample.size(); ++i) {
      sample[i].add(d.values(i) * std::exp(d.log_scale(i) - static_cast<double>(log_sums[i])));
    }
  }
  for (const Accumulator& row : sample) {
    REQUIRE(std::abs(row.skewness()) <= 4);
    if (!student_interval(row, kFailure / static_cast<double>(sample.size())).contains(1)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE_TEMPLATE("performer: rows of features over their sums, for every map and projection", T, float, double) {
  const Problem<T> problem = random_problem<T>(12, 6, 3, 2, Stream(test_seed()).child("rows"));
  const long double scale = std::pow(6.0L, -0.25L);
  for (const FeatureMap map : kAllMaps) {
    for (const std::string& law : projection_names()) {
      CAPTURE(name_of(map));
      CAPTURE(law);
      const Stream stream = Stream(test_seed()).child(law);
      const auto approximation = performer(problem, 24, stream, {map, projection_law(law), 0});
      const Dense w =
          Projection<T>(projection_law(law), has_two_functions(map) ? 12 : 24, 6, stream.child("features")).dense();
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
        const double error = 8 * 14 * length * length * unit<T>() * amplitude / static_cast<double>(std::fabs(sum));
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
  const Problem<double> problem = random_problem<double>(5, 4, 1, 1, Stream(21));
  const std::vector<long double> log_sums = log_sums_of(logits_of(problem.Q(), problem.K()));
  const auto at = [](const Problem<double>& p) {
    return [p](const Stream& stream) { return performer(p, 64, stream); };
  };
  const auto scaled = [&](double factor) {
    return Problem<double>(factor * problem.Q(), factor * problem.K(), problem.V());
  };
  CHECK(row_sums_are(at(problem), log_sums));
  CHECK_FALSE(row_sums_are(at(scaled(std::pow(4.0, -0.25))), log_sums));
  CHECK_FALSE(row_sums_are(at(scaled(std::pow(4.0, 0.25))), log_sums));
  CHECK(row_sums_are(
      [&](const Stream& s) {
        return performer(problem, 64, s, {FeatureMap::oprf, ProjectionLaw::iid, 0});
      },
      log_sums));
}

TEST_CASE("nprf: E[D~] is the row sums of exp of cosines, and p^{-1/4} after the normalisation is rejected") {
  const Problem<double> problem = random_problem<double>(5, 4, 1, 3, Stream(22));
  const Dense cosines =
      Dense(arma::normalise(problem.Q(), 2, 1)) * transposed(Dense(arma::normalise(problem.K(), 2, 1)));
  // Features of oprf are bounded; those of prf, with ||x + y||^2 up to 4, are too skew for the interval.
  const auto method = [&](const Stream& s) { return nprf(problem, 64, s, {FeatureMap::oprf, ProjectionLaw::iid, 0}); };
  CHECK(row_sums_are(method, log_sums_of(cosines)));
  CHECK_FALSE(row_sums_are(method, log_sums_of(0.5L * cosines)));
}

TEST_CASE_TEMPLATE("nprf: norms do not count, zero rows are the mean of the values", T, float, double) {
  const Problem<T> problem = random_problem<T>(15, 4, 2, 3, Stream(test_seed()).child("norms"));
  arma::Mat<T> q = problem.Q(), k = problem.K();
  q.row(2).zeros();
  const Stream stream = Stream(test_seed()).child("draw");
  const auto expected = nprf(Problem<T>(q, k, problem.V()), 32, stream);
  CHECK(identical(nprf(Problem<T>(T(1024) * q, k / T(64), problem.V()), 32, stream).output, expected.output));
  CHECK(expected.output.is_finite());
  // All keys zero: every score is 1 whatever is drawn.
  const auto mean = nprf(Problem<T>(q, arma::Mat<T>(15, 4, arma::fill::zeros), problem.V()), 32, stream);
  CHECK(distance(mean.output, arma::repmat(arma::mean(problem.V(), 0), 15, 1)) <=
        60 * unit<T>() * static_cast<double>(largest_entry_of(problem.V())));
}

TEST_CASE_TEMPLATE("performer and nprf: norms of 100 and 10,000, with every map, give no NaN", T, float, double) {
  for (const double norm : {100.0, 1e4}) {
    const Problem<T> problem = random_problem<T>(40, 8, 2, norm, Stream(test_seed()).child("large"));
    for (const FeatureMap map : kAllMaps) {
      for (const bool unit_length : {false, true}) {
        const FeatureOptions options{map, ProjectionLaw::haar, 0};
        const auto approximation =
            unit_length ? nprf(problem, 32, Stream(1), options) : performer(problem, 32, Stream(1), options);
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
  const Problem<T> problem = random_problem<T>(30, 8, 2, 6, Stream(test_seed()).child("epsilon"));
  const arma::Mat<T> mean = arma::repmat(arma::mean(problem.V(), 0), 30, 1);
  const auto distance_at = [&](double epsilon) {
    return distance(performer(problem, 64, Stream(3), {FeatureMap::prf, ProjectionLaw::haar, epsilon}).output, mean);
  };
  CHECK(distance_at(1) < 0.1 * distance_at(0));
  const Method<T>& method = find_method<T>("performer");
  const auto with = [&](const std::map<std::string, std::string>& values) {
    return bind(method, problem, OptionValues(values)).approximate(64, Stream(3)).output;
  };
  CHECK(identical(with({{"preset", "code"}}), with({{"epsilon", "1e-4"}})));
  CHECK(identical(with({}), performer(problem, 64, Stream(3)).output));
  CHECK_FALSE(identical(with({{"preset", "code"}}), with({})));
  CHECK(contains(refusal([&] { with({{"map", "trf"}, {"epsilon", "0.1"}}); }), "epsilon goes with positive maps"));
  CHECK(contains(refusal([&] {
                   bind(method, problem, OptionValues(std::map<std::string, std::string>{{"map", "trf"}}))
                       .approximate(7, Stream(1));
                 }),
                 "d = 7"));
}
