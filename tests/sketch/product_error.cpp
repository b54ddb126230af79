// The table of docs/sketches/README.md: E ||B S S^T V - B V||_F^2 of every distribution.
#include <doctest/doctest.h>
#include <croquis/sketch/distributions.hpp>
#include <croquis/stats/intervals.hpp>

#include <cmath>

#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kErrorRows = 7, kErrorCols = 4, kPadded = 8;  // n, d, n'

// B and V with columns and rows of unequal length.
struct Pair {
  arma::mat b, v;
  double f, g, h;  ///< ||B||_F^2 ||V||_F^2, ||B V||_F^2, sum_i ||B^(i)||^2 ||V_(i)||^2
  arma::vec columns, rows;

  Pair() {
    const Key key = Key(test_seed()).child("product error");
    const arma::vec scale = arma::regspace(1, kErrorRows);
    b = random_matrix(3, kErrorRows, key.child("b")) * arma::diagmat(scale);
    v = arma::diagmat(scale) * random_matrix(kErrorRows, 2, key.child("v"));
    columns = arma::sum(arma::square(b), 0).t();
    rows = arma::sum(arma::square(v), 1);
    f = arma::accu(columns) * arma::accu(rows);
    g = arma::accu(arma::square(b * v));
    h = arma::dot(columns, rows);
  }
};

// Intervals for the mean of d times the squared error: Student's over means of 1000 draws, which are close to normal.
Interval mean_error(const Pair& pair, const std::string& distribution,
                    const std::map<std::string, double>& parameters) {
  const bool weighted = find_sketch_distribution<double>(distribution).weighted;
  const Key key = Key(test_seed()).child(distribution);
  const arma::mat exact = pair.b * pair.v;
  Accumulator means;
  for (std::uint64_t batch = 0; batch < 60; ++batch) {
    double mean = 0;
    for (std::uint64_t draw = 0; draw < 1000; ++draw) {
      const auto weights = weighted ? arma::conv_to<std::vector<double>>::from(pair.rows) : std::vector<double>();
      const AnySketch<double> s = make_sketch<double>(
          describe_sketch(distribution, kErrorRows, kErrorCols, key.child(batch).child(draw), parameters, weights));
      mean += kErrorCols * arma::accu(arma::square(pair.b * s.expand(s.left(pair.v)) - exact)) / 1000;
    }
    means.add(mean);
  }
  return student_interval(means, 1e-7);
}

}  // namespace

TEST_CASE("The mean square error of a product is that of the distribution's formula, and of no other's") {
  const Pair pair;
  const auto [f, g, h] = std::tuple(pair.f, pair.g, pair.h);
  const double n = kErrorRows, d = kErrorCols, q = std::sqrt(n), m = 4;
  const auto check = [&](const std::string& distribution, double expected,
                         const std::map<std::string, double>& parameters = {}) {
    CAPTURE(distribution);
    const Interval interval = mean_error(pair, distribution, parameters);
    CAPTURE(interval.lo);
    CAPTURE(interval.hi);
    CAPTURE(expected);
    CHECK(interval.contains(expected));
    CHECK(interval.hi - interval.lo < 0.2 * expected);
  };
  check("gaussian", f + g);
  for (const char* distribution : {"rademacher", "countsketch", "sjlt", "sparse-stack"})
    check(distribution, f + g - 2 * h);
  check("srht", (f + g - 2 * h) * (kPadded - d) / (kPadded - 1));
  check("very-sparse", f + g + (q - 3) * h);
  check("accumulative", n * h / m + (1 - 1 / m) * (f + 2 * g) - g);
  check("uniform", n * h - g);
  check("uniform", (n * h - g) * (n - d) / (n - 1), {{"replacement", 0}});
  check("importance", f - g);  // weights ||V_(i)||^2
  // The formulas are far enough apart for a wrong one to be noticed.
  CHECK(2 * h > 0.25 * (f + g));
}
