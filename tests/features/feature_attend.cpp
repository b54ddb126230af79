#include <doctest/doctest.h>
#include <croquis/features/feature_pair.hpp>

#include <cmath>
#include <memory>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/features.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kWidth = 5, kValues = 3;

template <typename T>
arma::Mat<T> rows(arma::uword n, double norm, const char* name) {
  return static_cast<T>(norm / std::sqrt(double{kWidth})) * random_matrix<T>(n, kWidth, Key(test_seed()).child(name));
}

template <typename T>
FeaturePair<T> pair_of(const arma::Mat<T>& x, const arma::Mat<T>& y, arma::uword directions,
                       const FeatureOptions& options) {
  const arma::uword d = has_two_functions(options.map) ? 2 * directions : directions;
  return FeaturePair<T>(x, y, d, options, Key(test_seed()).child("features"));
}

// Attention by features that stand in memory, and what an error of e in every one of them does to a row: sums of n
// products of two features and a value, relative to their absolute values, and the same of the denominator.
template <typename T>
struct Reference {
  Dense output, error;
  std::vector<long double> log_sums;

  Reference(const FeaturePair<T>& pair, const arma::Mat<T>& x, double e) {
    const auto phi = pair.matrices();
    const arma::uword n = phi.queries.n_rows, keys = phi.keys.n_rows, d = phi.keys.n_cols;
    Dense sums(d, kValues + 1), sizes(d, kValues + 1);  // keys^T [X 1]
    for (arma::uword j = 0; j < keys; ++j) {
      for (arma::uword r = 0; r < d; ++r) {
        for (arma::uword c = 0; c <= kValues; ++c) {
          const long double value = c < kValues ? static_cast<long double>(x(j, c)) : 1.0L;
          sums(r, c) += static_cast<long double>(phi.keys(j, r)) * value;
          sizes(r, c) += std::fabs(static_cast<long double>(phi.keys(j, r)) * value);
        }
      }
    }
    const Dense queries = phi.queries, numerators = queries * sums;
    Dense absolute = queries;
    for (long double& entry : absolute.entries) entry = std::fabs(entry);
    const Dense size = absolute * sizes;
    output = error = Dense(n, kValues);
    const long double relative = 2 * e + static_cast<double>(keys + d) * unit<T>();
    for (arma::uword i = 0; i < n; ++i) {
      const long double sum = numerators(i, kValues);
      log_sums.push_back(std::log(std::fabs(sum)) + static_cast<long double>(phi.log_scale(i)));
      for (arma::uword c = 0; c < kValues; ++c) {
        output(i, c) = numerators(i, c) / sum;
        error(i, c) = relative * (size(i, c) + size(i, kValues) * std::fabs(output(i, c))) / std::fabs(sum);
      }
    }
  }
};

// Rows and sums of `found` within the errors of the reference, features being off by e.
template <typename T, typename Rows>
void check_rows(const Rows& found, const Reference<T>& expected, FeatureMap map, double e) {
  double worst = 0, worst_sum = 0;
  for (arma::uword i = 0; i < expected.output.rows; ++i) {
    for (arma::uword c = 0; c < kValues; ++c) {
      const long double gap = std::fabs(static_cast<long double>(found.output(i, c)) - expected.output(i, c));
      raise(worst, gap / expected.error(i, c));
    }
    const long double sum =
        std::log(std::fabs(static_cast<long double>(found.sums(i)))) + static_cast<long double>(found.log_scale(i));
    raise(worst_sum, std::fabs(sum - expected.log_sums[i]));
  }
  CHECK(worst <= 1);
  // Of sines and cosines the sum may be near 0, and its logarithm anything.
  if (map != FeatureMap::trf) CHECK(worst_sum <= 4 * e + 1200 * unit<T>());
}

// An exponent of a feature has 30 roundings of |w||x|, ||x||^2 and the shifts, as in the tests of FeaturePair.
template <typename T>
double feature_error(const FeaturePair<T>& pair, const arma::Mat<T>& x, const arma::Mat<T>& y,
                     const FeatureOptions& options) {
  const double longest =
      largest_row(
          Projection<T>(options.projection, pair.directions(), kWidth, Key(test_seed()).child("features")).dense()) +
      1;
  const double size = largest_row(x) + largest_row(y);
  return 8 * (kWidth + 8) * unit<T>() * (longest * longest + size * size + longest * size + 4);
}

}  // namespace

TEST_CASE_TEMPLATE("FeaturePair::attend: is attention by the features in memory, every map and projection", T, float,
                   double) {
  struct Sizes {
    arma::uword queries, keys, directions;
  };
  // One block of 256 x 512 and several, also of directions; more directions than tokens.
  for (const auto& [queries, keys, directions] : {Sizes{9, 7, 10}, Sizes{300, 1100, 4}, Sizes{5, 20, 600}}) {
    const arma::Mat<T> x = rows<T>(queries, 1.5, "x"), y = rows<T>(keys, 0.8, "y"),
                       v = random_matrix<T>(keys, kValues, Key(test_seed()).child("v"));
    for (const FeatureMap map : kAllMaps) {
      for (const std::string& distribution : projection_names()) {
        for (const double epsilon : {0.0, 1e-2}) {
          if (map == FeatureMap::trf && epsilon > 0) continue;
          if (map == FeatureMap::sphere && distribution == "sorf")
            continue;  // some directions of p = 5 are 0, and refused
          CAPTURE(name_of(map));
          CAPTURE(distribution);
          CAPTURE(epsilon);
          CAPTURE_BINDING(keys);
          const FeatureOptions options{map, projection_distribution(distribution), epsilon};
          const FeaturePair<T> pair = pair_of(x, y, directions, options);
          const Reference<T> expected(pair, v, feature_error(pair, x, y, options));
          const auto found = pair.attend(v);
          REQUIRE(arma::size(found.output) == arma::SizeMat(queries, kValues));
          check_rows(found, expected, map, feature_error(pair, x, y, options));
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("FeaturePair::attend: norms up to 10,000 leave means of the values", T, float, double) {
  for (const double norm : {1e-8, 100.0, 1e4}) {
    const arma::Mat<T> x = rows<T>(20, norm, "x"), y = rows<T>(600, norm, "y"),
                       v = random_matrix<T>(600, kValues, Key(test_seed()).child("v"));
    for (const FeatureMap map : {FeatureMap::prf, FeatureMap::oprf, FeatureMap::sphere, FeatureMap::saderf}) {
      for (const double epsilon : {0.0, 1e-4}) {
        CAPTURE(name_of(map));
        CAPTURE(norm);
        const auto found = pair_of(x, y, 12, {map, ProjectionDistribution::haar, epsilon}).attend(v);
        REQUIRE(found.output.is_finite());
        CHECK(found.sums.min() > 0);
        CHECK(found.log_scale.is_finite());
        // Weights are positive and add up to 1 within the roundings of two sums of 600 terms.
        CHECK(largest_entry_of(found.output) <= (1 + 4 * 620 * unit<T>()) * static_cast<double>(arma::abs(v).max()));
      }
    }
  }
}

TEST_CASE_TEMPLATE("FeaturePair: points scaled by it are those that were scaled before", T, float, double) {
  const T scale = T(0.3);
  const arma::Mat<T> x = rows<T>(30, 3, "x"), y = rows<T>(40, 2, "y"),
                     v = random_matrix<T>(40, kValues, Key(test_seed()).child("v"));
  for (const FeatureMap map : kAllMaps) {
    for (const std::string& distribution : projection_names()) {
      if (map == FeatureMap::sphere && distribution == "sorf") continue;  // some directions are 0, and refused
      CAPTURE(name_of(map));
      CAPTURE(distribution);
      const FeatureOptions options{map, projection_distribution(distribution), 0};
      const FeaturePair<T> before = pair_of<T>(scale * x, scale * y, 8, options);
      const FeaturePair<T> within(std::make_shared<const arma::Mat<T>>(x), std::make_shared<const arma::Mat<T>>(y),
                                  scale, before.count(), options, Key(test_seed()).child("features"));
      const double error = feature_error<T>(before, scale * x, scale * y, options);
      CHECK(std::fabs(within.exponent() - before.exponent()) <= error);
      const auto a = before.matrices(), b = within.matrices();
      CHECK(distance(a.queries, b.queries) <= error);
      CHECK(distance(a.keys, b.keys) <= error);
      CHECK(distance(a.log_scale, b.log_scale) <= error);
      if (map != FeatureMap::trf) {
        CHECK(distance(before.attend(v).output, within.attend(v).output) <=
              4 * error * static_cast<double>(largest_entry_of(v)));
      }
    }
  }
}

TEST_CASE_TEMPLATE("FeaturePair::attend: the same bits for any number of threads", T, float, double) {
  const arma::Mat<T> x = rows<T>(700, 2, "x"), y = rows<T>(1300, 2, "y"),
                     v = random_matrix<T>(1300, kValues, Key(test_seed()).child("v"));
  for (const double epsilon : {0.0, 1e-4}) {
    const FeaturePair<T> pair = pair_of(x, y, 20, {FeatureMap::prf, ProjectionDistribution::haar, epsilon});
    const ThreadCount one(1);
    const auto expected = pair.attend(v);
    for (const int team : {2, 4}) {
      const ThreadCount count(team);
      const auto found = pair.attend(v);
      CHECK(identical(found.output, expected.output));
      CHECK(identical(arma::Mat<T>(found.sums), arma::Mat<T>(expected.sums)));
    }
  }
  CHECK(contains(refusal([&] { pair_of(x, y, 4, {}).attend(x); }),
                 "a row of X for every key, got rows = 700, keys = 1300"));
}

TEST_CASE_TEMPLATE("FeaturePair: sums of features of many keys, for which BLAS takes threads where it may", T, float,
                   double) {
  const arma::Mat<T> y = rows<T>(1300, 2, "y"), v = random_matrix<T>(1300, kValues, Key(test_seed()).child("v"));
  const FeaturePair<T> pair = pair_of(y, y, 70, {FeatureMap::prf});
  const auto shifts = pair.shifts();
  const ThreadCount one(1);
  const arma::Mat<T> sums = pair.key_sums(v, shifts), output = pair.attend_sums(sums, shifts).output;
  const ThreadCount four(4);
  CHECK(identical(pair.key_sums(v, shifts), sums));
  CHECK(identical(pair.attend_sums(sums, shifts).output, output));
  CHECK(contains(refusal([&] { pair.attend_sums(arma::join_cols(sums, sums), shifts); }), "sums of every feature"));
}

TEST_CASE_TEMPLATE(
    "FeaturePair: sums of the features of keys in parts, with the shifts of all, make the rows of attend()", T, float,
    double) {
  for (const FeatureMap map : {FeatureMap::prf, FeatureMap::hyperbolic, FeatureMap::trf, FeatureMap::sphere}) {
    for (const double epsilon : {0.0, 1e-2}) {
      if (epsilon > 0 && map == FeatureMap::trf) continue;
      CAPTURE(name_of(map));
      CAPTURE(epsilon);
      const FeatureOptions options{map, ProjectionDistribution::haar, epsilon};
      const arma::Mat<T> x = rows<T>(40, 2, "x"), y = rows<T>(70, 2, "y");
      const arma::Mat<T> v = random_matrix<T>(70, kValues, Key(test_seed()).child("v"));
      const FeaturePair<T> all = pair_of<T>(x, y, 100, options);
      const double error = feature_error(all, x, y, options);
      const Reference<T> whole(all, v, error);
      const FeaturePair<T> first = pair_of<T>(x, y.head_rows(13), 100, options),
                           second = pair_of<T>(x.head_rows(9), y.tail_rows(57), 100, options);
      const arma::Col<T> key_shifts = arma::max(first.key_shifts(), second.key_shifts());
      const auto shifts = first.shifts(key_shifts);
      const arma::Mat<T> sums =
          first.key_sums(v.head_rows(13), shifts) + second.key_sums(v.tail_rows(57), second.shifts(key_shifts));
      const auto parts = first.attend_sums(sums, shifts);
      check_rows(parts, whole, map, error);
    }
  }
}
