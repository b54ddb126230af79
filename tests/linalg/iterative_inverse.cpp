#include <doctest/doctest.h>
#include <croquis/linalg/iterative_inverse.hpp>

#include <cmath>
#include <string>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr InverseStart kStarts[] = {InverseStart::identity, InverseStart::transpose_both, InverseStart::transpose_one};
constexpr arma::uword kSize = 9;

// Symmetric, eigenvalues from 0.25 to 1: every start suits it, ||I - N N^T / ||N||_1|| < 1 because ||N||_1 >= 1.
template <typename T>
arma::Mat<T> benign() {
  return arma::conv_to<arma::Mat<T>>::from(
      with_eigenvalues(kSize, arma::linspace(0.25, 1, kSize), Key(test_seed()).child("benign")));
}

Dense residual_of(const Dense& n, const Dense& z) {
  return identity(n.rows) - n * z;
}

}  // namespace

TEST_CASE_TEMPLATE("iterative_inverse: one step takes the residual E to (3 E^3 + E^4) / 4, from every start", T, float,
                   double) {
  // x = ||N Z_0||_inf is below 2 here, and the products are off by d u of 13 + 15 x + 7 x^2 + x^3 < 79 at most, three
  // times; the last, by N, has ||N||_inf ||Z||_inf < 2 x 79 / 4.
  const double bound = 4 * kSize * unit<T>() * 79 * 2;
  for (const InverseStart start : kStarts) {
    const arma::Mat<T> n = benign<T>();
    const Dense e = residual_of(n, iterative_inverse(n, {.start = start, .iterations = 0}).inverse);
    const Dense stepped = residual_of(n, iterative_inverse(n, {.start = start, .iterations = 1}).inverse);
    CHECK(largest_row_sum(identity(kSize) - e) < 2);
    CHECK(distance(stepped, 0.25L * (3 * (e * e * e) + e * e * e * e)) <= bound);
  }
}

TEST_CASE_TEMPLATE("iterative_inverse: one step satisfies the same identity for a matrix without symmetry", T, float,
                   double) {
  const arma::Mat<T> n = benign<T>() + T(0.05) * random_matrix<T>(kSize, kSize, Key(test_seed()).child("skew"));
  const Dense e = residual_of(n, iterative_inverse(n, {.iterations = 0}).inverse);
  const Dense stepped = residual_of(n, iterative_inverse(n, {.iterations = 1}).inverse);
  CHECK(distance(stepped, 0.25L * (3 * (e * e * e) + e * e * e * e)) <= 4 * kSize * unit<T>() * 79 * 2);
}

TEST_CASE_TEMPLATE("iterative_inverse: converges to the inverse from every start", T, float, double) {
  // At the fixed point Z is off by the rounding of one step, 40 d u ||N|| ||Z||^2 with ||N|| = 1, ||Z|| = 4.
  for (const InverseStart start : kStarts) {
    const arma::Mat<T> n = benign<T>();
    const IterativeInverse<T> z = iterative_inverse(n, {.start = start, .iterations = 30});
    CHECK(distance(z.inverse, inverted(n)) <= 40 * kSize * unit<T>() * 16);
    CHECK(z.residual <= 40 * kSize * unit<T>() * 4 * 3);  // Frobenius: sqrt(d) = 3
    CHECK(z.iterations == 30);
  }
}

TEST_CASE_TEMPLATE("iterative_inverse: stays at the inverse of a symmetric matrix for any number of steps", T, float,
                   double) {
  constexpr arma::uword d = 150;  // three blocks of products
  const arma::Mat<T> n = arma::conv_to<arma::Mat<T>>::from(
      with_eigenvalues(d, arma::linspace(0.01, 1, d), Key(test_seed()).child("symmetric")));
  for (const InverseStart start : kStarts) {
    for (const int steps : {20, 80}) {
      const IterativeInverse<T> z = iterative_inverse(n, {.start = start, .iterations = steps, .symmetric = true});
      // At the fixed point as above, with ||Z|| = 100.
      CHECK(distance(z.inverse, inverted(n)) <= 40 * d * unit<T>() * 100 * 100);
      CHECK(z.residual <= 40 * d * unit<T>() * 100 * std::sqrt(static_cast<double>(d)));
    }
  }
}

TEST_CASE("iterative_inverse: the start N^T / (||N||_1 ||N||_inf) has ||I - N Z|| < 1 for every regular N") {
  const Key key = Key(test_seed()).child("starts");
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    // Without symmetry, condition number 10^(trial / 4).
    const arma::vec values =
        arma::logspace(-static_cast<double>(trial) / 4, 0, 12) * std::pow(10.0, static_cast<double>(trial % 7) - 3);
    const arma::mat n = with_singular_values(12, 12, values, key.child(trial));
    const IterativeInverse<double> z = iterative_inverse(n, {.iterations = 0});
    CHECK(z.iterations == 0);
    CHECK(arma::norm(in_double(residual_of(n, z.inverse)), 2) < 1);
    // Z is a multiple of N^T, by one over the largest column sum times the largest row sum.
    double column = 0, row = 0;
    for (arma::uword i = 0; i < 12; ++i) {
      double c = 0, r = 0;
      for (arma::uword j = 0; j < 12; ++j) {
        c += std::abs(n(j, i));
        r += std::abs(n(i, j));
      }
      column = std::max(column, c);
      row = std::max(row, r);
    }
    // Two sums of 12 terms, a product and a quotient: 30 u, relative to the largest entry.
    CHECK(distance(z.inverse * column * row, n.t()) <= 30 * unit<double>() * arma::abs(n).max());
    const IterativeInverse<double> one = iterative_inverse(n, {.start = InverseStart::transpose_one, .iterations = 0});
    CHECK(distance(one.inverse * column, n.t()) <= 30 * unit<double>() * arma::abs(n).max());
  }
}

TEST_CASE("iterative_inverse: a small singular direction grows by 13/4 a step") {
  // N = diag(1, s): z_k = (13/4)^k up to factors 1 - 15 s z / 13 + ... a step, that is 2 s (13/4)^k in all.
  const double s = 1e-9;
  const arma::mat n = {{1, 0}, {0, s}};
  for (int steps = 1; steps <= 8; ++steps) {
    const IterativeInverse<double> z = iterative_inverse(n, {.start = InverseStart::identity, .iterations = steps});
    const double grown = std::pow(3.25, steps);
    CHECK(std::abs(z.inverse(1, 1) / grown - 1) <= 2 * s * grown);
    CHECK(z.inverse(0, 0) == 1);
    CHECK(z.residual > 0.99);  // and the residual says so
  }
}

TEST_CASE_TEMPLATE("iterative_inverse: the residual is ||I - N Z||_F of the Z returned, the iterations those taken", T,
                   float, double) {
  const arma::Mat<T> n = benign<T>();
  for (const int steps : {0, 1, 2, 6}) {
    const IterativeInverse<T> z = iterative_inverse(n, {.iterations = steps});
    CHECK(z.iterations == steps);
    // The product N Z: d u ||N|| ||Z|| an entry, d entries a side.
    CHECK(std::abs(z.residual - static_cast<double>(frobenius(residual_of(n, z.inverse)))) <=
          kSize * kSize * unit<T>() * 4);
  }
}

TEST_CASE_TEMPLATE("iterative_inverse: takes no step from the inverse", T, float, double) {
  const arma::Mat<T> eye(4, 4, arma::fill::eye);
  CHECK(iterative_inverse(eye, {.iterations = 50}).iterations == 0);  // Z_0 = I is the inverse
}

TEST_CASE("iterative_inverse: a breakdown is a runtime_error, a wrong argument an invalid_argument") {
  const arma::mat zero(3, 3, arma::fill::zeros), eye(3, 3, arma::fill::eye);
  CHECK(contains(refusal<std::runtime_error>([&] { iterative_inverse(zero); }), "the matrix is zero"));
  CHECK(contains(refusal<std::runtime_error>([&] {
                   iterative_inverse(arma::mat(100 * eye), {.start = InverseStart::identity, .iterations = 100});
                 }),
                 "diverged"));
  CHECK(refusal([] { iterative_inverse(arma::mat(2, 3, arma::fill::ones)); }) ==
        "iterative_inverse: a square matrix, got rows = 2, cols = 3");
  CHECK(contains(refusal([] { iterative_inverse(arma::mat()); }), "a square matrix, got rows = 0"));
  CHECK(contains(refusal([&] { iterative_inverse(eye, {.iterations = -1}); }), "iterations = -1"));
}

TEST_CASE("iterative_inverse: stops at the step that makes the residual of a symmetric matrix larger") {
  // The E of 1 is 0, that of -s is 1 + s and grows: it is the norm. No step makes it a tenth larger up to rounding.
  for (const double s : {1e-3, 1e-6, 1e-9}) {
    const arma::mat n = arma::diagmat(arma::vec{1, -s});
    const auto stepped = [](long double e) { return (3 * e * e * e + e * e * e * e) / 4; };
    int last = 0;  // step that makes it at most a tenth larger
    for (long double e = 1 + s; stepped(e) <= 1.1L * e; e = stepped(e)) ++last;
    REQUIRE(last >= 2);
    InverseIteration options{.start = InverseStart::identity, .iterations = last, .symmetric = true};
    CHECK(iterative_inverse(n, options).residual <= std::pow(1.1, last) * (1 + s));
    options.iterations = last + 1;
    CHECK(contains(refusal<std::runtime_error>([&] { iterative_inverse(n, options); }),
                   "iterative_inverse: diverged in step " + std::to_string(last + 1) + ";"));
  }
}

TEST_CASE("iterative_inverse: a residual that first grows is no breakdown where the matrix has no symmetry") {
  // I - N Z stays upper triangular. For E = 0.95 on the diagonal the entry beside it grows by 2.9 at first.
  const arma::mat n = {{0.05, 10}, {0, 0.05}};
  const InverseStart start = InverseStart::identity;
  CHECK(iterative_inverse(n, {.start = start, .iterations = 1}).residual >
        2 * iterative_inverse(n, {.start = start, .iterations = 0}).residual);
  // At the fixed point as above: 40 d u ||N|| ||Z||^2 for ||N|| < 11, ||Z|| < 4001.
  CHECK(distance(iterative_inverse(n, {.start = start, .iterations = 30}).inverse, inverted(n)) <=
        40 * 2 * unit<double>() * 11 * 4001 * 4001);
}

TEST_CASE_TEMPLATE("iterative_inverse: of one number is its reciprocal", T, float, double) {
  const IterativeInverse<T> z = iterative_inverse(arma::Mat<T>(1, 1, arma::fill::value(0.125)), {.iterations = 30});
  CHECK(z.inverse(0, 0) == doctest::Approx(8));
}

TEST_CASE_TEMPLATE("iterative_inverse: of a matrix whose squares vanish or overflow", T, float, double) {
  // Powers of two that are exact, in float up to 2^100.
  const int exponent = sizeof(T) == sizeof(float) ? 100 : 800;
  const arma::Mat<T> n = benign<T>();
  const IterativeInverse<T> expected = iterative_inverse(n);
  for (const T scale : {std::ldexp(T(1), -exponent), std::ldexp(T(1), exponent)}) {
    const IterativeInverse<T> z = iterative_inverse(arma::Mat<T>(scale * n));
    CHECK(identical(arma::Mat<T>(scale * z.inverse), expected.inverse));
    CHECK(z.residual == expected.residual);
  }
  // Nor does the residual itself vanish, or overflow, by its squares.
  const T size = std::ldexp(T(1), exponent);
  for (const T entry : {size, 1 / size}) {
    const arma::Mat<T> shear = {{T(1), entry}, {T(0), T(1)}};
    CHECK(iterative_inverse(shear, {.start = InverseStart::identity, .iterations = 0}).residual ==
          doctest::Approx(static_cast<double>(entry)).epsilon(1e-6).scale(0));
  }
}
