// The table of docs/sketches/README.md: E ||B S S^T V - B V||_F^2 of every distribution.
#include <doctest/doctest.h>
#include <croquis/sketch/distributions.hpp>
#include <croquis/stats/accumulator.hpp>

#include <cmath>

#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

constexpr arma::uword kErrorRows = 7, kErrorCols = 4, kPadded = 8;  // n, d, n'

// B and V with columns and rows of the lengths 1 ... 7, the same for every seed. Then F = 19,600 and H = 4,676, and
// these random directions have G = 2,757.
struct Pair {
  arma::mat b, v;
  double f, g, h;   ///< ||B||_F^2 ||V||_F^2, ||B V||_F^2, sum_i ||B^(i)||^2 ||V_(i)||^2
  arma::vec terms;  ///< of H

  Pair() {
    const arma::mat lengths = arma::diagmat(arma::regspace(1, kErrorRows));
    b = arma::normalise(random_matrix(3, kErrorRows, Key(1).child("b")), 2, 0) * lengths;
    v = lengths * arma::normalise(random_matrix(kErrorRows, 2, Key(1).child("v")), 2, 1);
    const arma::vec columns = arma::sum(arma::square(b), 0).t(), rows = arma::sum(arma::square(v), 1);
    f = arma::accu(columns) * arma::accu(rows);
    g = arma::accu(arma::square(b * v));
    terms = columns % rows;
    h = arma::accu(terms);
  }
};

// d times the mean square of the error.
struct Formula {
  std::string distribution;
  double expected;
  std::map<std::string, double> parameters;
  std::vector<double> weights;
};

std::vector<Formula> formulas(const Pair& pair) {
  const auto [f, g, h] = std::tuple(pair.f, pair.g, pair.h);
  const double n = kErrorRows, d = kErrorCols, q = std::sqrt(n), m = 4;
  const double signs = f + g - 2 * h;
  const arma::vec weights = arma::regspace(1, kErrorRows);  // other ones than the norms, and no row is rare
  const double weighted = arma::accu(pair.terms / weights) * arma::accu(weights);
  return {{"gaussian", f + g, {}, {}},
          {"rademacher", signs, {}, {}},
          {"countsketch", signs, {}, {}},
          {"sjlt", signs, {}, {}},
          {"sparse-stack", signs, {}, {}},
          {"srht", signs * (kPadded - d) / (kPadded - 1), {}, {}},
          {"very-sparse", f + g + (q - 3) * h, {}, {}},
          {"accumulative", n * h / m + (1 - 1 / m) * (f + 2 * g) - g, {}, {}},
          {"uniform", n * h - g, {}, {}},
          {"uniform", (n * h - g) * (n - d) / (n - 1), {{"replacement", 0}}, {}},
          {"importance", weighted - g, {}, arma::conv_to<std::vector<double>>::from(weights)}};
}

Accumulator errors_of(const Pair& pair, const Formula& formula) {
  const Key key = Key(test_seed()).child(formula.distribution);
  const arma::mat exact = pair.b * pair.v;
  Accumulator errors;
  for (std::uint64_t draw = 0; draw < 100000; ++draw) {
    const AnySketch<double> s = make_sketch<double>(describe_sketch(
        formula.distribution, kErrorRows, kErrorCols, key.child(draw), formula.parameters, formula.weights));
    errors.add(kErrorCols * arma::accu(arma::square(pair.b * s.expand(s.left(pair.v)) - exact)));
  }
  return errors;
}

// Seven standard errors of the sample itself. If N errors have the skewness s, their mean is below the expected value
// by z of them with the normal tail times exp(z^3 s / (3 sqrt(N))), and above it less often than the normal one (as in
// tests/features/unbiasedness.cpp). The largest s of four million draws is 6, of gaussian: the factor is 8.8, and
// one of the eleven intervals fails with probability 1.3e-11, all of them with less than 1e-9.
bool mean_is(const Accumulator& errors, double expected) {
  return std::abs(errors.mean() - expected) <= 7 * errors.standard_error();
}

}  // namespace

TEST_CASE("The mean square error of a product is that of the distribution's formula, and of no other's") {
  const Pair pair;
  const std::vector<Formula> all = formulas(pair);
  // Formulas that differ are at least 17 standard errors of either sample apart. Where an interval has the right one,
  // it has another only if its standard error is 17 / 14 of the expected one, whose square a sample has within a few
  // percent.
  for (const Formula& formula : all) {
    const Accumulator errors = errors_of(pair, formula);
    CAPTURE(formula.distribution);
    CAPTURE(errors.mean());
    CAPTURE(errors.standard_error());
    for (const Formula& other : all) {
      CAPTURE(other.distribution);
      CAPTURE(other.expected);
      CHECK(mean_is(errors, other.expected) == (other.expected == formula.expected));
    }
  }
}
