#include <doctest/doctest.h>
#include <croquis/sketch/uniform_sampling.hpp>

#include <cmath>
#include <functional>

#include "support/capture.hpp"
#include "support/seed.hpp"
#include "support/sketches.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kUniformRows = 7, kUniformCols = 3;
constexpr std::uint64_t kUniformTrials = 40000;

template <typename T>
using Draw = std::function<arma::Mat<T>(const Key&)>;

// E[S S^T] = I. Entry (i, i) of S S^T is n/d times the number of columns that are e_i. Over all trials that number is
// Binomial(d trials, 1/n) with replacement and Binomial(trials, d/n) without: exact tails, 1e-9 shared by 7 entries.
// Entries off the diagonal are zero in every draw.
template <typename T>
bool second_moment_is_identity(const Draw<T>& draw, SampleReplacement replacement) {
  const Key root = Key(test_seed()).child("law");
  arma::mat sum(kUniformRows, kUniformRows, arma::fill::zeros);
  for (std::uint64_t t = 0; t < kUniformTrials; ++t) {
    const arma::mat s = arma::conv_to<arma::mat>::from(draw(root.child(t)));
    sum += s * s.t();
  }
  constexpr double n = kUniformRows, d = kUniformCols;
  for (arma::uword i = 0; i < kUniformRows; ++i) {
    for (arma::uword k = 0; k < kUniformRows; ++k) {
      if (i != k && sum(i, k) != 0) return false;
    }
    const double picks =
        std::round(sum(i, i) * d / n);  // undoes the scale that the distribution has; rounding is below 1/2
    const bool follows = replacement == SampleReplacement::with
                             ? is_binomial(picks, d * kUniformTrials, 1 / n, 1e-9 / n)
                             : is_binomial(picks, kUniformTrials, d / n, 1e-9 / n);
    if (!follows) return false;
  }
  return true;
}

}  // namespace

TEST_CASE_TEMPLATE("UniformSampling: left, right and expand are products with dense(), duplicates included", T, float,
                   double) {
  const Key key = Key(test_seed()).child("products");
  const std::pair<arma::uword, arma::uword> sizes[] = {{1, 1}, {1, 4}, {3, 8}, {300, 20}, {20, 20}};
  for (const auto& [n, d] : sizes) {
    CAPTURE_BINDING(n);
    check_products<T>(UniformSampling(n, d, key.child(n)), key.child("operands"));
    if (d <= n)
      check_products<T>(UniformSampling(n, d, key.child(n), SampleReplacement::without), key.child("operands"));
  }
}

TEST_CASE_TEMPLATE(
    "UniformSampling: E[S S^T] = I in every entry, with and without replacement, and mutants are rejected", T, float,
    double) {
  // 17,143 picks an entry, deviation 121 with replacement: a scale wrong by 3 % is 4 deviations on the square, one by
  // sqrt(d) or sqrt(n) hundreds.
  for (const SampleReplacement replacement : {SampleReplacement::with, SampleReplacement::without}) {
    const auto drawn = [replacement](const Key& s) {
      return UniformSampling(kUniformRows, kUniformCols, s, replacement).dense<T>();
    };
    const auto accepts = [replacement](const Draw<T>& draw) { return second_moment_is_identity<T>(draw, replacement); };
    const auto scaled = [&](double by) -> Draw<T> {
      return [drawn, by](const Key& s) { return arma::Mat<T>(static_cast<T>(by) * drawn(s)); };
    };
    CHECK(accepts(drawn));
    CHECK_FALSE(accepts(scaled(std::sqrt(3.0 / 7))));  // no scale
    CHECK_FALSE(accepts(scaled(1 / std::sqrt(7.0))));  // sqrt(1/d): Skyformer's Def. 1
    CHECK_FALSE(accepts(scaled(std::sqrt(3.0))));      // sqrt(n)
    CHECK_FALSE(accepts([&](const Key& s) {            // index 0 is never drawn
      arma::Mat<T> m = drawn(s);
      m.row(1) += m.row(0);
      m.row(0).zeros();
      return m;
    }));
    CHECK_FALSE(accepts([&](const Key& s) {  // nor is the last
      arma::Mat<T> m = drawn(s);
      m.row(0) += m.row(kUniformRows - 1);
      m.row(kUniformRows - 1).zeros();
      return m;
    }));
  }
}

TEST_CASE_TEMPLATE("UniformSampling: without replacement and d = n is a permutation, S S^T = I in every draw", T, float,
                   double) {
  const arma::Mat<T> s = UniformSampling(12, 12, Key(test_seed()), SampleReplacement::without).dense<T>();
  CHECK(identical(arma::Mat<T>(s * s.t()), arma::Mat<T>(12, 12, arma::fill::eye)));
}

TEST_CASE("UniformSampling: a column has one entry, sqrt(n/d), at its index; more columns begin with the fewer") {
  const Key key = Key(test_seed()).child("columns");
  for (const SampleReplacement replacement : {SampleReplacement::with, SampleReplacement::without}) {
    const UniformSampling sketch(50, 20, key, replacement), longer(50, 40, key, replacement);
    const arma::mat s = sketch.dense<double>();
    for (arma::uword j = 0; j < 20; ++j) {
      CHECK(arma::accu(s.col(j) != 0) == 1);
      // A quotient and a root: 2 u.
      CHECK(std::abs(s(sketch.indices()(j), j) - 1.5811388300841896660) <= 4 * unit<double>());  // sqrt(2.5)
      CHECK(sketch.indices()(j) == longer.indices()(j));
    }
  }
}

TEST_CASE_TEMPLATE("UniformSampling: the same bits for any number of threads", T, float, double) {
  check_thread_counts<T>(UniformSampling(1000, 300, Key(test_seed()).child("threads")), Key(test_seed()));
}

TEST_CASE("UniformSampling: wrong sizes are refused") {
  CHECK(refusal([] { UniformSampling(5, 0, Key(1)); }) == "UniformSampling: n >= 1, d >= 1, got n = 5, d = 0");
  CHECK(contains(refusal([] { UniformSampling(0, 2, Key(1)); }), "got n = 0, d = 2"));
  CHECK(
      contains(refusal([] { UniformSampling(5, 6, Key(1), SampleReplacement::without); }), "d <= n, got d = 6, n = 5"));
  check_refusals(UniformSampling(5, 3, Key(1)));
}
