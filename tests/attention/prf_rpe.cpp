#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/performer.hpp>
#include <croquis/attention/prf_rpe.hpp>
#include <croquis/attention/relative_features.hpp>
#include <croquis/features/feature_pair.hpp>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/attention.hpp"
#include "support/capture.hpp"
#include "support/features.hpp"
#include "support/matrices.hpp"
#include "support/relative.hpp"
#include "support/seed.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr ToeplitzPath kPaths[] = {ToeplitzPath::fft, ToeplitzPath::direct};

template <typename T>
Problem<T> with_relative_position(const Problem<T>& problem, RelativePosition<T> position) {
  return {problem.Q(), problem.K(), problem.V(), {}, std::move(position)};
}

// The part of a sum by FFT that its error bound may be: the documented number.
template <typename T>
constexpr double kTau = sizeof(T) == sizeof(double) ? 1e-7 : 1e-2;

// B~ by its definition, with the features of the library: row by row in long double.
template <typename T>
Dense plain_scores(const Problem<T>& problem, bool unit_length, arma::uword d, const Key& draw_key,
                   const FeatureOptions& options) {
  const T scale = std::pow(static_cast<T>(problem.p()), T(-0.25));
  const arma::Mat<T> x = unit_length ? arma::Mat<T>(arma::normalise(problem.Q(), 2, 1))
                                     : arma::Mat<T>(scale * problem.Q()),
                     y = unit_length ? arma::Mat<T>(arma::normalise(problem.K(), 2, 1))
                                     : arma::Mat<T>(scale * problem.K());
  const auto phi = FeaturePair<T>(x, y, d, options, draw_key.child("features")).matrices();
  const arma::uword n_q = problem.n_q(), n_k = problem.n_k();
  const Dense b = pairwise_bias(problem);
  Dense scores(n_q, n_k);
  for (arma::uword i = 0; i < n_q; ++i) {
    long double top = -std::numeric_limits<long double>::infinity(), sum = 0;
    for (arma::uword j = 0; j < n_k; ++j) top = std::max(top, b(i, j));
    for (arma::uword j = 0; j < n_k; ++j) {
      for (arma::uword r = 0; r < d; ++r) {
        scores(i, j) += static_cast<long double>(phi.queries(i, r)) * static_cast<long double>(phi.keys(j, r));
      }
      scores(i, j) *= std::exp(b(i, j) - top);
      sum += scores(i, j);
    }
    for (arma::uword j = 0; j < n_k; ++j) scores(i, j) /= sum;
  }
  return scores;
}

template <typename T>
Dense plain_output(const Problem<T>& problem, bool unit_length, arma::uword d, const Key& draw_key,
                   const FeatureOptions& options) {
  return plain_scores(problem, unit_length, d, draw_key, options) * problem.V();
}

// The median of every column, by sorting.
template <typename T>
arma::Row<T> plain_medians(const arma::Mat<T>& v) {
  arma::Row<T> medians(v.n_cols);
  for (arma::uword c = 0; c < v.n_cols; ++c) {
    std::vector<T> entries(v.begin_col(c), v.end_col(c));
    std::sort(entries.begin(), entries.end());
    medians(c) = (entries[(entries.size() - 1) / 2] + entries[entries.size() / 2]) / 2;
  }
  return medians;
}

// z_j = max_c |v_jc - m_c|
template <typename T>
Dense plain_reach(const arma::Mat<T>& v, const arma::Row<T>& medians) {
  Dense reach(v.n_rows, 1);
  for (arma::uword j = 0; j < v.n_rows; ++j) {
    for (arma::uword c = 0; c < v.n_cols; ++c) {
      reach(j, 0) = std::max(reach(j, 0), std::abs(static_cast<long double>(v(j, c)) - medians(c)));
    }
  }
  return reach;
}

template <typename T>
Approximation<T> run(const Problem<T>& problem, bool unit_length, arma::uword d, const Key& draw_key,
                     const RelativeFeatureOptions& options) {
  return unit_length ? nprf_rpe(problem, d, draw_key, options) : prf_rpe(problem, d, draw_key, options);
}

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

TEST_CASE_TEMPLATE("prf-rpe: sharp biases, where the FFT loses rows, are computed directly and equal the direct path",
                   T, float, double) {
  const arma::uword n = 200;
  const Problem<T> problem = random_problem<T>(n, 6, 3, 2, Key(test_seed()).child("sharp"));
  const auto compare = [&](const RelativePosition<T>& position, arma::uword least_rows) {
    const Problem<T> biased = with_relative_position(problem, position);
    for (const bool unit_length : {false, true}) {
      const auto by_fft = run(biased, unit_length, 24, Key(5), {kNprfFeatures, ToeplitzPath::fft});
      const auto directly = run(biased, unit_length, 24, Key(5), {kNprfFeatures, ToeplitzPath::direct});
      CHECK(by_fft.diagnostics.direct_rows.value() >= least_rows);
      CHECK(by_fft.diagnostics.direct_rows.value() < n);
      CHECK(directly.output.is_finite());
      CHECK(distance(by_fft.output, directly.output) <=
            (2.1 * kTau<T> + 8 * (n + 24.0) * unit<T>()) * static_cast<double>(largest_entry_of(problem.V())));
      CHECK(distance(directly.output, plain_output(biased, unit_length, 24, Key(5), kNprfFeatures)) <=
            8 * (n + 24.0) * unit<T>() * static_cast<double>(largest_entry_of(problem.V())));
      CHECK(interface_gap(by_fft, biased) <= 0.02);
      CHECK(interface_gap(directly, biased) <= 1e3 * n * unit<T>());
    }
  };
  // b_t = 0.3 t: early queries have a key e^60 times better than any of the last queries has.
  RelativePosition<T> slope;
  slope.bias = arma::regspace<arma::Col<T>>(-199, 199) * T(0.3);
  compare(slope, 20);
  slope.causal = true;  // the last query's keys, at distance 0 and below, are among the best
  RelativePosition<T> spike{arma::Col<T>(2 * n - 1, arma::fill::zeros), false, 1};
  spike.bias(n - 1 + 150) = T(60);  // queries 0 to 49 have a key e^60 times better; the others lose all digits
  compare(spike, 150);
}

TEST_CASE_TEMPLATE("prf-rpe: rows with an error bound above tau of a sum are computed directly, and no others", T,
                   float, double) {
  const arma::uword n = 200, d = 150;  // more directions than a block has
  RelativePosition<T> slope;
  slope.bias = arma::regspace<arma::Col<T>>(-199, 199) * T(0.1);
  const Problem<T> plain = random_problem<T>(n, 6, 2, 2, Key(61));
  const T scale = std::pow(T(6), T(-0.25));
  const FeaturePair<T> features(scale * plain.Q(), scale * plain.K(), d, kNprfFeatures, Key(5).child("features"));
  const auto phi = features.matrices();
  const Dense queries = phi.queries, keys = phi.keys, products = queries * transposed(keys);
  const ToeplitzOperator<T> toeplitz(slope, n, ToeplitzPath::fft);
  const Dense c = pairwise_weights(slope, n, static_cast<long double>(toeplitz.log_scale()));
  // E_i over the sum, for values of these sizes
  const auto ratios = [&](const Dense& sizes) {
    std::vector<long double> result(n);
    for (arma::uword i = 0; i < n; ++i) {
      long double sum = 0, error = 0;
      for (arma::uword j = 0; j < n; ++j) sum += c(i, j) * products(i, j) * sizes(j, 0);
      for (arma::uword r = 0; r < d; ++r) {
        long double squares = 0;
        for (arma::uword j = 0; j < n; ++j) squares += std::pow(keys(j, r) * sizes(j, 0), 2);
        error += static_cast<long double>(toeplitz.entry_error()) * std::abs(queries(i, r)) * std::sqrt(squares);
      }
      result[i] = error / sum;
    }
    return result;
  };
  const auto above = [](const std::vector<long double>& numbers, double tau) {
    return std::count_if(numbers.begin(), numbers.end(), [tau](long double x) { return x > tau; });
  };
  const std::vector<long double> of_ones = ratios(Dense(arma::Mat<T>(n, 1, arma::fill::ones)));
  // A large value that hardly any row attends to, and one that many attend to: the bound of the numerators decides, and
  // that of the row sums.
  for (const bool attended : {false, true}) {
    arma::Mat<T> v = plain.V();
    v.row(attended ? n - 1 : 0) *= T(1e3);
    const std::vector<long double> of_values = ratios(plain_reach(v, plain_medians(v)));
    std::vector<long double> larger(n);
    for (arma::uword i = 0; i < n; ++i) larger[i] = std::max(of_ones[i], of_values[i]);
    // The method's sums are off by E_i themselves, so that it may decide either way within 2 % of tau.
    const auto least = above(larger, 1.02 * kTau<T>), most = above(larger, 0.98 * kTau<T>);
    CAPTURE(attended);
    CHECK(above(attended ? of_values : of_ones, kTau<T>) < least - 5);
    CHECK(least > 10);
    CHECK(most < static_cast<long>(n) - 10);
    CHECK(most - least <= 2);
    const Problem<T> problem(plain.Q(), plain.K(), v, {}, slope);
    const auto rows = prf_rpe(problem, d, Key(5), {kNprfFeatures, ToeplitzPath::fft}).diagnostics.direct_rows;
    CHECK(static_cast<long>(rows.value()) >= least);
    CHECK(static_cast<long>(rows.value()) <= most);
  }
}

TEST_CASE_TEMPLATE(
    "prf-rpe and nprf-rpe: by FFT a row is as exact as the page says, relative to the values that it attends to, "
    "whatever the others are",
    T, float, double) {
  const arma::uword n = 400, d = 16;
  struct Shape {
    arma::uword n_k;
    bool causal;
  };
  for (const Shape& shape : {Shape{n, false}, Shape{250, false}, Shape{n, true}}) {
    for (const double steepness : {0.02, 0.06}) {
      RelativePosition<T> slope;  // causal: the past counts more
      slope.bias = arma::regspace<arma::Col<T>>(-399, 399) * T(shape.causal ? -steepness : steepness);
      slope.causal = shape.causal;
      const Problem<T> plain =
          random_rectangle<T>(n, shape.n_k, 6, 3, 2, Key(test_seed()).child("numerators").child(shape.n_k), slope);
      for (const bool unit_length : {false, true}) {
        const Dense scores = plain_scores(plain, unit_length, d, Key(7), kNprfFeatures);
        const auto check = [&](const std::string& name, const arma::Mat<T>& v) {
          CAPTURE(name);
          CAPTURE(shape.n_k);
          CAPTURE(shape.causal);
          CAPTURE(steepness);
          CAPTURE(unit_length);
          const Problem<T> problem(plain.Q(), plain.K(), v, {}, slope);
          const auto approximation = run(problem, unit_length, d, Key(7), {kNprfFeatures, ToeplitzPath::fft});
          const arma::Row<T> medians = shape.causal ? arma::Row<T>(3, arma::fill::zeros) : plain_medians(v);
          const Dense output = scores * v, reach = scores * plain_reach(v, medians),
                      sizes = scores * arma::Mat<T>(arma::abs(v));
          double worst = 0;
          for (arma::uword i = 0; i < n; ++i) {
            for (arma::uword c = 0; c < 3; ++c) {
              const long double rounding = 8 * (n + d) * unit<T>() * (sizes(i, c) + std::abs(medians(c)));
              const long double allowed = 2.1 * kTau<T> * reach(i, 0) + rounding,
                                error = std::abs(static_cast<long double>(approximation.output(i, c)) - output(i, c));
              worst = std::max(worst, static_cast<double>(error / allowed));
            }
          }
          CHECK(worst <= 1);
          return approximation.diagnostics.direct_rows.value();
        };
        CHECK(check("as they are", plain.V()) < n);
        CHECK(check("moved", plain.V() + T(1000)) < n);
        check("equal", arma::Mat<T>(shape.n_k, 3, arma::fill::value(T(0.3))));
        for (const arma::uword row : {arma::uword(0), shape.n_k - 1}) {
          arma::Mat<T> v = plain.V();
          v.row(row) *= T(1e12);
          check("one large row", v);
        }
        arma::Mat<T> v = arma::abs(plain.V());
        v.tail_rows(200) *= T(1e12);
        check("later rows large", v);
      }
    }
  }
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

TEST_CASE("relative_path: none without a bias, direct for few tokens, fft for many, and what is wanted") {
  RelativePosition<double> position{arma::vec(1, arma::fill::zeros), false, 1};
  CHECK(relative_path(RelativePosition<double>{}, {100000, 100000}, 64, 64) == RelativePath::sums);
  CHECK(relative_path(RelativePosition<double>{{}, true, 1}, {100000, 100000}, 64, 64) == RelativePath::prefix);
  CHECK(relative_path(position, {1024, 1024}, 64, 64) == RelativePath::direct);
  CHECK(relative_path(position, {65536, 65536}, 64, 64) == RelativePath::fft);
  CHECK(relative_path(position, {1024, 1024}, 64, 64, ToeplitzPath::fft) == RelativePath::fft);
  CHECK(relative_path(position, {65536, 65536}, 64, 64, ToeplitzPath::direct) == RelativePath::direct);
  arma::uword crossover = 16;
  while (relative_path(position, {crossover, crossover}, 64, 64) == RelativePath::direct) crossover *= 2;
  CHECK(crossover == 8192);
}
