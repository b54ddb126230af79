// Sums of features with a bias: the path they take, and rows computed directly since the FFT loses their digits.
#include <doctest/doctest.h>

#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/relative_features.hpp>
#include <croquis/attention/relative_scores.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/prf_rpe_reference.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// The part of a sum by FFT that its error bound may be: the documented number.
template <typename T>
constexpr double kTau = sizeof(T) == sizeof(double) ? 1e-7 : 1e-2;

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

}  // namespace

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

TEST_CASE_TEMPLATE("prf-rpe: entries of the bias that no query and key have do not change a bit", T, float, double) {
  for (const auto& shape :
       {std::pair<TokenAlignment, arma::uword>{{30, 70}, 1}, {{70, 30}, 1}, {{13, 40}, 5}, {{40, 13}, 5}}) {
    const auto [tokens, height] = shape;
    CAPTURE(shape.first.n_q);
    CAPTURE(shape.second);
    const RelativeGrid grid(tokens.n(), height);
    RelativePosition<T> position{T(0.1) * random_matrix<T>(grid.size(), 1, Key(8)).as_col(), false, height};
    const Problem<T> problem = random_rectangle<T>(tokens.n_q, tokens.n_k, 4, 3, 1, Key(9), position);
    const arma::Mat<T> g = random_matrix<T>(tokens.n_q, 3, Key(10));
    for (const T other : {T(800), T(0), -std::numeric_limits<T>::infinity()}) {
      for (arma::uword t = 0; t < grid.size(); ++t) {
        if (!grid.is_used(t, tokens)) position.bias(t) = other;
      }
      const Problem<T> same(problem.Q(), problem.K(), problem.V(), {}, position);
      for (const ToeplitzPath path : {ToeplitzPath::fft, ToeplitzPath::direct}) {
        for (const bool unit_length : {false, true}) {
          const auto first = run(problem, unit_length, 24, Key(5), {kNprfFeatures, path}),
                     second = run(same, unit_length, 24, Key(5), {kNprfFeatures, path});
          CHECK(identical(first.output, second.output));
          const Gradient<T> of_first = first.adjoint(g), of_second = second.adjoint(g);
          CHECK(identical(of_first.q, of_second.q));
          CHECK(identical(arma::Mat<T>(of_first.bias), arma::Mat<T>(of_second.bias)));
        }
      }
    }
  }
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
  for (const Shape& shape : {Shape{n, false}, Shape{250, false}, Shape{120, false}, Shape{n, true}}) {
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
              raise(worst, error / allowed);
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
        v.tail_rows(shape.n_k / 2) *= T(1e12);
        check("later rows large", v);
      }
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
  CHECK(crossover == 4096);
}

TEST_CASE("RelativeScores: an X or a cotangent of another number of rows is refused") {
  const arma::mat x = random_matrix<double>(4, 3, Key(test_seed()).child("x")),
                  y = random_matrix<double>(5, 3, Key(test_seed()).child("y"));
  const FeaturePair<double> features(x, y, 8, {}, Key(test_seed()).child("draw"));
  const auto rows = [](arma::uword n) { return arma::mat(n, 2, arma::fill::ones); };
  for (const RelativePath path : {RelativePath::fft, RelativePath::direct, RelativePath::prefix}) {
    const RelativeScores<double> scores(features, {.bias = {}, .causal = path == RelativePath::prefix}, {4, 5}, path);
    CHECK(scores.multiply(rows(5)).n_rows == 4);
    CHECK(scores.multiply_transposed(rows(4)).n_rows == 5);
    for (const arma::uword n : {3U, 6U}) {
      CHECK(contains(refusal([&] { scores.multiply(rows(n)); }), "RelativeScores: an X with as many rows"));
      CHECK(contains(refusal([&] { scores.multiply_transposed(rows(n)); }), "RelativeScores: an X with as many rows"));
      CHECK(contains(refusal([&] { scores.adjoint(rows(n), rows(4)); }), "RelativeScores: an X with as many rows"));
      CHECK(contains(refusal([&] { scores.adjoint(rows(5), rows(n)); }), "a cotangent of the products"));
    }
    CHECK(contains(refusal([&] { scores.adjoint(rows(5), arma::mat(4, 1)); }), "a cotangent of the products"));
  }
}

TEST_CASE("attention by features: a pair of other points than the problem's, and other cotangents, are refused") {
  const arma::mat q = random_matrix<double>(4, 3, Key(test_seed()).child("q")),
                  k = random_matrix<double>(5, 3, Key(test_seed()).child("k")),
                  v = random_matrix<double>(5, 2, Key(test_seed()).child("v"));
  const Problem<double> plain(q, k, v),
      biased(q, k, v, {}, {.bias = arma::vec(9, arma::fill::zeros), .causal = false, .height = 1});
  const arma::mat cotangent(4, 2, arma::fill::ones);
  const auto said = [&](const arma::mat& x, const arma::mat& y) {
    const FeaturePair<double> pair(x, y, 8, {}, Key(1));
    std::vector<std::string> messages;
    messages.push_back(refusal([&] { feature_attention(pair, plain, Target::softmax, "f"); }));
    messages.push_back(refusal([&] { feature_attention_gradient(pair, plain, Target::softmax, cotangent); }));
    for (const ToeplitzPath path : {ToeplitzPath::fft, ToeplitzPath::direct}) {
      messages.push_back(refusal([&] { relative_feature_attention(pair, biased, Target::softmax_rpe, path, "r"); }));
    }
    return messages;
  };
  for (const std::string& nothing : said(q, k)) CHECK(nothing == "nothing was thrown");
  const std::vector<std::vector<std::string>> refused{said(q.head_rows(3), k), said(q, k.head_rows(4)),
                                                      said(q.head_cols(2), k.head_cols(2))};
  for (const std::vector<std::string>& found : refused) {
    CHECK(contains(found[0], "feature_attention: features of the problem's queries and keys, got queries = "));
    CHECK(contains(found[1], "feature_attention_gradient: features of the problem's"));
    CHECK(contains(found[2], "relative_feature_attention: features of the problem's"));
    CHECK(found[3] == found[2]);
  }
  CHECK(contains(refused[0][0], "queries = 3, keys = 5, width = 3, n_q = 4, n_k = 5, p = 3"));

  const FeaturePair<double> pair(q, k, 8, {}, Key(1));
  for (const arma::mat& other : {arma::mat(3, 2), arma::mat(4, 3)}) {
    CHECK(contains(refusal([&] { feature_attention_gradient(pair, plain, Target::softmax, other); }),
                   "feature_attention_gradient: a cotangent of n_q x p_v"));
  }
  CHECK(refusal([&] { quotient_cotangent<double>(arma::mat(4, 3, arma::fill::ones), cotangent); }) ==
        "nothing was thrown");
  for (const arma::mat& products : {arma::mat(3, 3), arma::mat(4, 2), arma::mat(4, 4)}) {
    CHECK(contains(refusal([&] { quotient_cotangent<double>(products, cotangent); }), "quotient_cotangent: products"));
  }
}
