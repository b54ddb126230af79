// prf-rpe and nprf-rpe against their definition, and what they promise for all inputs.
#include <doctest/doctest.h>

#include <croquis/attention/exact.hpp>
#include <croquis/attention/performer.hpp>
#include <croquis/attention/prf_rpe.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "attention/prf_rpe_reference.hpp"
#include "support/capture.hpp"
#include "support/features.hpp"
#include "support/seed.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr ToeplitzPath kPaths[] = {ToeplitzPath::fft, ToeplitzPath::direct};

// On the path fft an error bound of kTau of a row sum is let through; what it really is is far smaller. With the
// moderate biases here row sums have 1e3 units of the transform's error at most, and the direct path n + d roundings.
template <typename T>
double tolerance(const Problem<T>& problem, arma::uword d) {
  const double terms = static_cast<double>(problem.tokens().n() + d) + 1e3;
  return 8 * terms * unit<T>() * static_cast<double>(largest_entry_of(problem.V()));
}

}  // namespace

TEST_CASE_TEMPLATE("prf-rpe and nprf-rpe: the definition, by FFT and directly, causal or not, in lines and images", T,
                   float, double) {
  for (const auto& [n, height] : {std::pair<arma::uword, arma::uword>{1, 1}, {2, 1}, {45, 1}, {300, 1}, {48, 6}}) {
    for (const bool causal : {false, true}) {
      const Key draw_key = Key(test_seed()).child(n);
      const Problem<T> problem = with_relative_position(
          random_problem<T>(n, 6, 3, 2, draw_key), random_position<T>(n, height, causal, 1, draw_key.child("bias")));
      for (const bool unit_length : {false, true}) {
        const Dense expected = plain_output(problem, unit_length, 20, draw_key, kNprfFeatures);
        for (const ToeplitzPath path : kPaths) {
          CAPTURE_BINDING(n);
          CAPTURE_BINDING(height);
          CAPTURE(causal);
          CAPTURE(unit_length);
          const auto approximation = run(problem, unit_length, 20, draw_key, {kNprfFeatures, path});
          CHECK(distance(approximation.output, expected) <= tolerance(problem, 20));
          if (path == ToeplitzPath::direct) CHECK(approximation.diagnostics.direct_rows == n);
          CHECK(interface_gap(approximation, problem) <= 1e3 * static_cast<double>(n) * unit<T>());
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE(
    "prf-rpe and nprf-rpe: other numbers of queries than of keys, aligned to the last key, on every path", T, float,
    double) {
  struct Shape {
    arma::uword n_q, n_k, height;
  };
  for (const Shape& s :
       {Shape{1, 40, 1}, {7, 300, 1}, {150, 290, 1}, {40, 1, 1}, {300, 7, 1}, {20, 48, 6}, {48, 20, 6}}) {
    CAPTURE(s.n_q);
    CAPTURE(s.n_k);
    const arma::uword n = std::max(s.n_q, s.n_k);
    const Key draw_key = Key(test_seed()).child(s.n_q).child(s.n_k);
    const bool masks = s.n_q <= s.n_k;
    const RelativePosition<T> biased = random_position<T>(n, s.height, masks, 1, draw_key.child("bias"), masks);
    const auto check = [&](const RelativePosition<T>& position, const RelativeFeatureOptions& options,
                           bool unit_length) {
      const Problem<T> problem = random_rectangle<T>(s.n_q, s.n_k, 6, 3, 2, draw_key, position);
      const auto approximation = run(problem, unit_length, 20, draw_key, options);
      const Dense expected = plain_output(problem, unit_length, 20, draw_key, kNprfFeatures);
      CHECK(distance(approximation.output, expected) <= tolerance(problem, 20));
      CHECK(interface_gap(approximation, problem) <= 1e3 * static_cast<double>(n) * unit<T>());
    };
    for (const bool unit_length : {false, true}) {
      for (const ToeplitzPath path : kPaths) check(biased, {kNprfFeatures, path}, unit_length);
      check({}, {}, unit_length);
      if (masks) check({{}, true, 1}, {}, unit_length);  // prefix sums
    }
  }
}

TEST_CASE_TEMPLATE("prf-rpe: every map goes with a bias, also more directions than a block has", T, float, double) {
  const Problem<T> problem =
      with_relative_position(random_problem<T>(40, 6, 2, 1, Key(41)), random_position<T>(40, 1, false, 1, Key(42)));
  for (const FeatureMap map : kAllMaps) {
    CAPTURE(name_of(map));
    const FeatureOptions features{map, ProjectionDistribution::haar, 0};
    for (const arma::uword d : {200U, 600U}) {
      const Dense expected = plain_output(problem, false, d, Key(43), features);
      for (const ToeplitzPath path : kPaths) {
        // Sines and cosines leave row sums ten times below what was added up.
        const double bound = (map == FeatureMap::trf ? 10 : 1) * tolerance(problem, d);
        CHECK(distance(prf_rpe(problem, d, Key(43), {features, path}).output, expected) <= bound);
      }
    }
  }
}

TEST_CASE_TEMPLATE("prf-rpe: without a bias it is performer, causal without a bias the prefix sums", T, float, double) {
  for (const arma::uword n : {1U, 128U, 300U}) {
    const Problem<T> problem = random_problem<T>(n, 6, 3, 2, Key(test_seed()).child(n));
    const Key draw_key(9);
    CHECK(identical(prf_rpe(problem, 30, draw_key).output, performer(problem, 30, draw_key, kNprfFeatures).output));
    const Problem<T> causal = with_relative_position(problem, RelativePosition<T>{{}, true, 1});
    const auto approximation = prf_rpe(causal, 30, draw_key);
    CHECK(distance(approximation.output, plain_output(causal, false, 30, draw_key, kNprfFeatures)) <=
          tolerance(problem, 30));
    CHECK(interface_gap(approximation, causal) <= 1e3 * static_cast<double>(n) * unit<T>());
    // The same with zeros for a bias, by the other paths.
    const Problem<T> zeros =
        with_relative_position(problem, RelativePosition<T>{arma::Col<T>(2 * n - 1, arma::fill::zeros), true, 1});
    for (const ToeplitzPath path : kPaths) {
      CHECK(distance(prf_rpe(zeros, 30, draw_key, {kNprfFeatures, path}).output, approximation.output) <=
            tolerance(problem, 30));
    }
  }
}

TEST_CASE("nprf-rpe: with many features it is its target, and not that of the mirrored bias") {
  // Lemma 2: a score has relative deviation s_ij = sqrt((e^{||x+y||^2} - 1) / d), and a mean of 100,000 log-normal
  // numbers with sigma^2 <= 4 a skewness of 0.4 at most: with q = 9 deviations in place of the 6.4 that a normal
  // distribution would need for 1e-9 / 64 scores the upper tail exp(-q^2 / 2 + 0.4 q^3 / 6) is below 1e-9. All scores
  // within e = q max s_ij give ||B~_i - B_i||_1 <= 2 e / (1 - e) (proof of NPRF Thm. 3).
  const ThreadCount one(1);
  const arma::uword n = 8, d = 100000;
  const Problem<double> problem = with_relative_position(random_problem<double>(n, 16, 2, 5, Key(51)),
                                                         random_position<double>(n, 1, false, 2, Key(52)));
  const arma::mat x = arma::normalise(problem.Q(), 2, 1), y = arma::normalise(problem.K(), 2, 1);
  double largest = 0;
  for (arma::uword i = 0; i < n; ++i) {
    for (arma::uword j = 0; j < n; ++j) {
      largest = std::max(largest, std::sqrt((std::exp(std::pow(arma::norm(x.row(i) + y.row(j)), 2)) - 1) / d));
    }
  }
  const double e = 9 * largest;
  REQUIRE(e < 0.2);
  const auto distance_to = [&](const RelativePosition<double>& position) {
    const Dense scores = softmax_of(relative_logits(with_relative_position(problem, position), true));
    return distance(nprf_rpe(problem, d, Key(test_seed()).child("many")).output, scores * problem.V());
  };
  const double value = static_cast<double>(largest_entry_of(problem.V()));
  CHECK(distance_to(problem.position()) <= 2 * e / (1 - e) * value);
  RelativePosition<double> mirrored = problem.position();
  mirrored.bias = arma::reverse(mirrored.bias);
  CHECK(distance_to(mirrored) > 2 * e / (1 - e) * value);
}

TEST_CASE_TEMPLATE("nprf-rpe: zero rows are equal scores before the bias", T, float, double) {
  const Problem<T> problem = random_problem<T>(30, 4, 2, 2, Key(test_seed()).child("zero"));
  const RelativePosition<T> position = random_position<T>(30, 1, true, 1, Key(6));
  const arma::Mat<T> none(30, 4, arma::fill::zeros);
  const Problem<T> zeros(none, none, problem.V(), {}, position);
  for (const ToeplitzPath path : kPaths) {
    const auto approximation = nprf_rpe(zeros, 16, Key(1), {kNprfFeatures, path});
    CHECK(distance(approximation.output, softmax_of(pairwise_bias(position, 30)) * problem.V()) <=
          tolerance(problem, 16));
  }
}

TEST_CASE_TEMPLATE(
    "prf-rpe and nprf-rpe: norms of 100 give no NaN: a finite output or a breakdown that names the token", T, float,
    double) {
  for (const double norm : {100.0, 1e4}) {
    const Problem<T> problem = random_problem<T>(150, 8, 2, norm, Key(test_seed()).child("large"));
    for (const bool causal : {false, true}) {
      for (const bool biased : {false, true}) {
        RelativePosition<T> position = random_position<T>(150, 1, causal, 3, Key(4));
        if (!biased) position.bias.reset();
        const Problem<T> p = with_relative_position(problem, position);
        CHECK(nprf_rpe(p, 16, Key(2)).output.is_finite());
        for (const ToeplitzPath path : kPaths) {
          try {
            const bool finite = prf_rpe(p, 16, Key(2), {kNprfFeatures, path}).output.is_finite();
            CHECK(finite);
          } catch (const std::runtime_error& failure) {
            CHECK(std::string(failure.what()).find("prf-rpe: the estimated row sum of token") == 0);
            CHECK((causal || biased));  // without either, sums are at least 1
          }
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("prf-rpe: padding is the shorter problem; threads change nothing; denominators are those of A", T,
                   float, double) {
  const Problem<T> whole = random_problem<T>(90, 6, 70, 2, Key(test_seed()).child("padding"));
  const RelativePosition<T> position = random_position<T>(90, 1, false, 1, Key(3));
  const Problem<T> padded(whole.Q(), whole.K(), whole.V(), 61, position);
  const Problem<T> cut_one(whole.Q().head_rows(61), whole.K().head_rows(61), whole.V().head_rows(61), {},
                           {position.bias.subvec(29, 149), false, 1});
  for (const ToeplitzPath path : kPaths) {
    const RelativeFeatureOptions options{kNprfFeatures, path};
    const ThreadCount one(1);
    const auto expected = prf_rpe(cut_one, 16, Key(2), options);
    CHECK(identical(prf_rpe(padded, 16, Key(2), options).output, expected.output));
    for (const int team : {2, 4}) {
      const ThreadCount count(team);
      CHECK(identical(prf_rpe(padded, 16, Key(2), options).output, expected.output));
    }
  }
}

TEST_CASE_TEMPLATE("prf-rpe: denominators are estimates of the row sums of A, the bias's maximum included", T, float,
                   double) {
  // Lemma 2 with ||x + y||^2 <= 4: 4096 features leave a deviation of at most 0.12 a score, less of their sum; half or
  // double is more than four of them, and a factor e^{max b} off is 1000.
  const ThreadCount one(1);
  RelativePosition<T> position = random_position<T>(61, 1, false, 1, Key(3));
  position.bias += T(7);
  const Problem<T> problem =
      with_relative_position(random_problem<T>(61, 6, 2, 0.5, Key(test_seed()).child("sums")), position);
  REQUIRE(largest_point(problem) <= 1);
  const auto exact = exact_attention(problem, Target::softmax_rpe);
  for (const ToeplitzPath path : kPaths) {
    const auto d = prf_rpe(problem, 4096, Key(8), {kNprfFeatures, path}).denominators.value();
    for (arma::uword i = 0; i < 61; ++i) {
      const double ratio =
          static_cast<double>(d.values(i)) * std::exp(static_cast<double>(d.log_scale(i) - exact.log_row_sums(i)));
      CHECK(ratio > 0.5);
      CHECK(ratio < 2);
    }
  }
}
