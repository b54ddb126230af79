// Causal performer, nprf and linear: prefix sums against the dense masked scores.
#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/linear.hpp>
#include <croquis/attention/nprf.hpp>
#include <croquis/attention/performer.hpp>
#include <croquis/attention/prf_rpe.hpp>

#include <cmath>
#include <limits>
#include <string>

#include "support/masks.hpp"
#include "support/relative.hpp"

using namespace croquis;

namespace {

// Longer than a chunk of prefix sums, decoding, one query.
const TokenAlignment kShapes[] = {{41, 41}, {300, 300}, {7, 300}, {150, 400}, {1, 23}};

// The scores of the full form with nothing above the diagonal, over their sums.
template <typename T>
Dense masked_scores(const Approximation<T>& full, const TokenAlignment& tokens) {
  Dense b = full.scores->dense();
  for (arma::uword i = 0; i < b.rows; ++i) {
    long double sum = 0;
    for (arma::uword j = 0; j < b.cols; ++j) {
      if (!may_meet(i, j, tokens, true)) b(i, j) = 0;
      sum += b(i, j);
    }
    for (arma::uword j = 0; j < b.cols; ++j) b(i, j) /= sum;
  }
  return b;
}

template <typename T>
Problem<T> without_mask(const Problem<T>& problem) {
  return {problem.Q(), problem.K(), problem.V()};
}

}  // namespace

TEST_CASE_TEMPLATE("causal performer and nprf: the scores of the full form below the diagonal, over their sums", T,
                   float, double) {
  for (const TokenAlignment& tokens : kShapes) {
    const Problem<T> problem = masked_problem<T>({tokens, true}, 1.5, Key(test_seed()).child(tokens.n_q), true);
    const auto n = static_cast<double>(tokens.n_k);
    for (const FeatureMap map : {FeatureMap::prf, FeatureMap::hyperbolic, FeatureMap::sphere, FeatureMap::saderf}) {
      for (const bool unit_length : {false, true}) {
        const FeatureOptions options{map, ProjectionDistribution::haar, 0};
        const auto run = [&](const Problem<T>& on) {
          return unit_length ? nprf(on, 8, Key(2), options) : performer(on, 8, Key(2), options);
        };
        const Approximation<T> causal = run(problem);
        // Sums of positive terms; the first rows are a thousandth of the whole sum or more, at these norms.
        const double entry = 1e3 * 20 * n * unit<T>();
        check_mask(causal, problem, masked_scores(run(without_mask(problem)), tokens), entry);
        CHECK(causal.denominators->values.n_elem == tokens.n_q);
        CHECK(static_cast<bool>(causal.adjoint));
      }
    }
  }
}

TEST_CASE_TEMPLATE("causal performer is prf-rpe without a bias, to the bit; a bias is nothing to it", T, float,
                   double) {
  const Problem<T> problem = masked_problem<T>({{200, 200}, true}, 2, Key(test_seed()).child("same"));
  CHECK(identical(performer(problem, 16, Key(3), kNprfFeatures).output, prf_rpe(problem, 16, Key(3)).output));
  CHECK(identical(nprf(problem, 16, Key(3)).output, nprf_rpe(problem, 16, Key(3)).output));
  const RelativePosition<T> bias = random_position<T>(200, 1, true, 1, Key(4), false);
  const Problem<T> biased(problem.Q(), problem.K(), problem.V(), {}, bias);
  CHECK(identical(performer(biased, 16, Key(3)).output, performer(problem, 16, Key(3)).output));
  CHECK(method_on(problem, "performer").flops(16) == method_on(problem, "prf-rpe").flops(16));
}

TEST_CASE_TEMPLATE("causal features: later tokens are nothing to a row, within the range of the shifts", T, float,
                   double) {
  const Problem<T> problem = masked_problem<T>({{150, 150}, true}, 1.5, Key(test_seed()).child("later"));
  arma::Mat<T> k = problem.K(), v = problem.V();
  k.tail_rows(30) *= T(1.5);
  v.tail_rows(30) += T(50);
  const Problem<T> other(problem.Q(), k, v, {}, problem.position());
  for (const char* name : {"performer", "nprf", "linear"}) {
    const auto head = [&](const Problem<T>& on) -> arma::Mat<T> {
      return method_on(on, name).approximate(16, Key(5)).output.head_rows(120);
    };
    CHECK(distance(head(problem), head(other)) <= 1e4 * 150 * unit<T>());
  }
}

TEST_CASE_TEMPLATE("causal linear: elu + 1 features over their sums up to the query", T, float, double) {
  const auto feature = [](long double x) { return x > 0 ? x + 1 : std::exp(x); };
  for (const TokenAlignment& tokens : kShapes) {
    const Problem<T> problem = masked_problem<T>({tokens, true}, 3, Key(test_seed()).child(tokens.n_k), true);
    Dense expected(tokens.n_q, tokens.n_k);
    for (arma::uword i = 0; i < tokens.n_q; ++i) {
      long double sum = 0;
      for (arma::uword j = 0; j < tokens.n_k; ++j) {
        if (!may_meet(i, j, tokens, true)) continue;
        for (arma::uword c = 0; c < problem.p(); ++c) {
          expected(i, j) += feature(problem.Q()(i, c)) * feature(problem.K()(j, c));
        }
        sum += expected(i, j);
      }
      for (arma::uword j = 0; j < tokens.n_k; ++j) expected(i, j) /= sum;
    }
    const auto n = static_cast<double>(tokens.n_k);
    check_mask(linear_attention(problem), problem, expected, 4 * (8 * 6 + n + 10) * unit<T>());
  }
}

TEST_CASE_TEMPLATE("row sums of features: those that underflow has left without digits are refused, by their token", T,
                   float, double) {
  const T smallest = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  const arma::Col<T> zero(2, arma::fill::zeros);
  for (const T sign : {T(1), T(-1)}) {  // sums of sines and cosines have either
    CHECK_NOTHROW(checked_denominators<T>({1, sign * smallest}, zero, "it"));
    CHECK_THROWS_WITH_AS(checked_denominators<T>({1, sign * smallest * T(0.99)}, zero, "it"),
                         doctest::Contains("it: the estimated row sum of token 1 is "), std::runtime_error);
  }
  CHECK_THROWS_AS(checked_denominators<T>({0, 1}, zero, "it"), std::runtime_error);
  CHECK_THROWS_AS(checked_denominators<T>({std::numeric_limits<T>::infinity(), 1}, zero, "it"), std::runtime_error);

  // linear: key 0 has the feature e^k, that of a later key is 2.
  const double tiny = std::log(static_cast<double>(std::numeric_limits<T>::min()));  // -87 and -708
  const arma::Col<T> ones(2, arma::fill::ones), values{1, 2};
  const auto first_row = [&](double k) {
    const arma::Col<T> keys{T(k), 1};
    return linear_attention(Problem<T>(ones, keys, values, {}, {.bias = {}, .causal = true})).output(0);
  };
  CHECK(std::abs(first_row(0.7 * tiny) - T(1)) <= 8 * unit<T>());
  for (const double k : {tiny - 3, 2 * tiny}) {  // subnormal, and zero
    CHECK_THROWS_WITH_AS(first_row(k), doctest::Contains("linear: the estimated row sum of token 0 is "),
                         std::runtime_error);
  }
}

TEST_CASE_TEMPLATE("causal performer, prf-rpe and linear: the first row is the first value, or is refused", T, float,
                   double) {
  const double size = sizeof(T) == sizeof(double) ? 24 : 8;
  arma::uword accepted = 0, refused = 0;
  for (arma::uword draw = 0; draw < 100; ++draw) {
    const Key draw_key = Key(test_seed()).child("first").child(draw);
    const Problem<T> problem = random_rectangle<T>(40, 40, 6, 6, size * std::sqrt(6.0), draw_key, {{}, true, 1});
    for (const char* name : {"performer", "prf-rpe", "linear"}) {
      CAPTURE(name);
      CAPTURE(draw);
      try {
        const auto approximation = method_on(problem, name).approximate(16, Key(draw));
        ++accepted;
        const double error = distance(approximation.output.row(0), problem.V().row(0));
        CHECK(error <= 1e3 * unit<T>() * static_cast<double>(arma::abs(problem.V().row(0)).max()));
        if (!approximation.adjoint) continue;
        const Gradient<T> gradient = approximation.adjoint(arma::Mat<T>(40, 6, arma::fill::ones));
        CHECK(gradient.q.is_finite());
        CHECK(gradient.k.is_finite());
        CHECK(gradient.v.is_finite());
      } catch (const std::runtime_error& failure) {
        ++refused;
        CHECK(std::string(failure.what()).find(": the estimated row sum of token") != std::string::npos);
      }
    }
  }
  CHECK(accepted > 30);
  CHECK(refused > 10);
}

TEST_CASE("prf-rpe: directly, a causal mask leaves half of the pairs to count, and n^2 of them otherwise") {
  const arma::uword n_q = 9, n_k = 14, p = 3, p_v = 5, d = 4;
  const auto flops = [&](bool causal) {
    RelativePosition<double> position{arma::vec(2 * n_k - 1, arma::fill::zeros), causal, 1};
    const Problem<double> problem(random_matrix<double>(n_q, p, Key(1)), random_matrix<double>(n_k, p, Key(2)),
                                  random_matrix<double>(n_k, p_v, Key(3)), {}, position);
    return method_on(problem, "prf-rpe", {{"product", "direct"}}).flops(d);
  };
  arma::uword pairs = 0;  // query i is token i + 5
  for (arma::uword i = 0; i < n_q; ++i) {
    for (arma::uword j = 0; j < n_k; ++j) pairs += j <= i + 5 ? 1 : 0;
  }
  CHECK(flops(false) - flops(true) == 2.0 * static_cast<double>((n_q * n_k - pairs) * (d + p_v + 1)));
}

TEST_CASE("causal features: flops are those of running sums and of the scores in chunks of 128 tokens") {
  const TokenAlignment tokens{300, 500};  // chunks of 128, 128 and 44
  const Problem<double> problem = masked_problem<double>({tokens, true}, 1, Key(1));
  const auto p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v());
  const auto products = [&](double features, double columns) {
    double multiply_adds = 0;
    for (arma::uword j = 0; j < 500; ++j) multiply_adds += features * columns;  // added to the sums
    for (arma::uword i = 0; i < 300; ++i) {
      const arma::uword in_chunk = i < 256 ? 128 : 44;
      multiply_adds += features * columns + static_cast<double>(in_chunk) * (features + columns);
    }
    return 2 * multiply_adds;
  };
  CHECK(method_on(problem, "linear").flops(1) == products(p, p_v) + products(p, 1));
  for (const char* name : {"performer", "nprf", "prf-rpe", "nprf-rpe"}) {
    CAPTURE(name);
    // Features for their shifts and again for the sums, 16 exponentials a token.
    CHECK(method_on(problem, name).flops(16) == 2 * 800 * 16 * 2 * p + 800 * 16 + products(16, p_v + 1));
  }
}

TEST_CASE(
    "prf-rpe: directly, the features of the keys are counted for every 256 queries; without a position as performer") {
  const arma::uword n_q = 600, n_k = 700, p = 3, p_v = 5, d = 4;
  for (const bool causal : {false, true}) {
    RelativePosition<double> position{arma::vec(2 * n_k - 1, arma::fill::zeros), causal, 1};
    const Problem<double> problem(random_matrix<double>(n_q, p, Key(1)), random_matrix<double>(n_k, p, Key(2)),
                                  random_matrix<double>(n_k, p_v, Key(3)), {}, position);
    arma::uword computed = n_q + n_k + n_q, pairs = 0;  // for shifts; a query once
    for (arma::uword i = 0; i < n_q; ++i) {
      const arma::uword keys = causal ? i + 101 : n_k;
      pairs += keys;
      if (i == 255 || i == 511 || i == 599) computed += keys;
    }
    const arma::uword features = 2 * computed * d * p + (n_q + n_k) * d, products = 2 * pairs * (d + p_v + 1);
    CHECK(method_on(problem, "prf-rpe", {{"product", "direct"}}).flops(d) == static_cast<double>(features + products));
  }
  const Problem<double> plain = random_rectangle<double>(60, 70, 4, 3, 1, Key(1));
  CHECK(method_on(plain, "prf-rpe").flops(8) == method_on(plain, "performer").flops(8));
}
