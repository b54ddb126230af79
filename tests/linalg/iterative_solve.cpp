#include <doctest/doctest.h>
#include <croquis/linalg/iterative_solve.hpp>

#include <cmath>
#include <limits>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

constexpr InverseStart kStarts[] = {InverseStart::identity, InverseStart::transpose_both, InverseStart::transpose_one};
constexpr arma::uword kSize = 150;  // two blocks of columns and more, and tiles of products that are not whole

template <typename T>
arma::Mat<T> drawn(arma::uword rows, arma::uword cols, const char* name) {
  return random_matrix<T>(rows, cols, Key(test_seed()).child(name));
}

// Singular values from 0.25 to 1, no symmetry but nearly: every start suits it.
template <typename T>
arma::Mat<T> benign(arma::uword d) {
  const Key key = Key(test_seed()).child("benign");
  return arma::conv_to<arma::Mat<T>>::from(with_eigenvalues(d, arma::linspace(0.25, 1, d), key)) +
         T(0.02) / std::sqrt(static_cast<T>(d)) * random_matrix<T>(d, d, key.child("skew"));
}

// Z of the iteration as the papers write it, in long double.
Dense inverse_of(const Dense& n, Dense z, int steps) {
  const Dense eye = identity(n.rows);
  for (int i = 0; i < steps; ++i) {
    const Dense nz = n * z;
    z = 0.25L * (z * (13 * eye - nz * (15 * eye - nz * (7 * eye - nz))));
  }
  return z;
}

// In a step, 13 M - 15 W M + W^2 (7 M - W M) is off by d u of (13 + 15 x + 7 x^2 + x^3) / 4 < 20 times the largest
// column of M, x = ||W|| < 2, at most four times over; later steps make that 13/4 times as large each.
template <typename T>
double rounding(arma::uword d, int steps) {
  return 4 * static_cast<double>(d) * unit<T>() * 20 * (steps + 1) * std::pow(3.25, steps);
}

}  // namespace

TEST_CASE_TEMPLATE("iterative_solve: is Z X, from every start and for few and many columns", T, float, double) {
  const arma::Mat<T> n = benign<T>(kSize);
  for (const InverseStart start : kStarts) {
    for (const int steps : {0, 1, 3}) {
      const Dense z = inverse_of(n, inverse_start(n, start), steps);
      const double residual = static_cast<double>(frobenius(identity(kSize) - Dense(n) * z));
      for (const arma::uword c : {arma::uword(1), kSize / 2, kSize / 2 + 1, kSize + 10}) {
        const arma::Mat<T> x = drawn<T>(kSize, c, "x") / std::sqrt(static_cast<T>(kSize));
        const IterativeSolution<T> solved = iterative_solve(n, x, {.start = start, .iterations = steps});
        CHECK(distance(solved.solution, z * Dense(x)) <= 2 * rounding<T>(kSize, steps));
        CHECK(std::abs(solved.residual - residual) <=
              std::sqrt(static_cast<double>(kSize)) * rounding<T>(kSize, steps));
        CHECK(solved.iterations == steps);
      }
    }
  }
}

TEST_CASE_TEMPLATE("iterative_solve: solves N Y = X when the iteration has converged", T, float, double) {
  // At the fixed point a step maps an error E of W to order E^2, so only the rounding of the last step is left: 20 d u
  // of columns of norm one, times ||Z|| = 4, and what X has gathered on the way, at most six steps of it.
  const arma::Mat<T> n = benign<T>(kSize), x = drawn<T>(kSize, 5, "x") / std::sqrt(static_cast<T>(kSize));
  const IterativeSolution<T> solved = iterative_solve(n, x, {.iterations = 20});
  CHECK(distance(Dense(n) * Dense(solved.solution), x) <= 4 * rounding<T>(kSize, 6));
  CHECK(solved.residual <= std::sqrt(static_cast<double>(kSize)) * rounding<T>(kSize, 1));
}

TEST_CASE_TEMPLATE("iterative_solve: takes half products for a symmetric N", T, float, double) {
  for (const arma::uword d : {arma::uword(40), kSize, arma::uword(192)}) {  // one block, three, and three whole ones
    const arma::Mat<T> n = arma::conv_to<arma::Mat<T>>::from(
        with_eigenvalues(d, arma::linspace(0.25, 1, d), Key(test_seed()).child("symmetric")));
    for (const InverseStart start : kStarts) {
      const Dense z = inverse_of(n, inverse_start(n, start), 2);
      for (const arma::uword c : {arma::uword(1), arma::uword(3), d / 2}) {
        const arma::Mat<T> x = drawn<T>(d, c, "x") / std::sqrt(static_cast<T>(d));
        const IterativeSolution<T> half = iterative_solve(n, x, {.start = start, .iterations = 2, .symmetric = true});
        CHECK(distance(half.solution, z * Dense(x)) <= 2 * rounding<T>(d, 2));
        const double residual = static_cast<double>(frobenius(identity(d) - Dense(n) * z));
        CHECK(std::abs(half.residual - residual) <= std::sqrt(static_cast<double>(d)) * rounding<T>(d, 2));
      }
    }
  }
}

TEST_CASE_TEMPLATE("iterative_solve: stays at the solution with a symmetric N for any number of steps", T, float,
                   double) {
  // At the fixed point W is off by the rounding of a step. X has gathered that of the steps in which the smallest E,
  // 1 - 1e-4 / ||N||_1 with ||N||_1 < 14, goes to 0, 11 as 1.4e5 < (13/4)^11, and a little in each one afterwards.
  for (const arma::uword d : {arma::uword(100), arma::uword(192)}) {
    const arma::Mat<T> n = arma::conv_to<arma::Mat<T>>::from(
        with_eigenvalues(d, arma::linspace(0.01, 1, d), Key(test_seed()).child("symmetric")));
    const arma::Mat<T> x = drawn<T>(d, 5, "x") / std::sqrt(static_cast<T>(d));
    for (const InverseStart start : kStarts) {
      for (const int steps : {20, 80}) {
        const IterativeSolution<T> half =
            iterative_solve(n, x, {.start = start, .iterations = steps, .symmetric = true});
        CHECK(half.residual <= std::sqrt(static_cast<double>(d)) * rounding<T>(d, 1));
        CHECK(distance(Dense(n) * Dense(half.solution), x) <= 4 * rounding<T>(d, 11));
      }
    }
  }
}

TEST_CASE("iterative_solve: a softmax matrix with condition number 1e7 loses no more than the page says") {
  // Scores of rank 3, small, so that rows are nearly equal: the core of flat attention. In float, six steps.
  constexpr arma::uword d = 128;
  const arma::mat scores = 0.3 * drawn<double>(d, 3, "q") * drawn<double>(d, 3, "k").t();
  arma::mat core = arma::exp(scores);
  core.each_col() /= arma::vec(arma::sum(core, 1));
  const arma::fmat n = arma::conv_to<arma::fmat>::from(core), x = drawn<float>(d, 60, "x");
  const IterativeSolution<float> solved = iterative_solve(n, x, {.iterations = 6});
  const Dense z = inverse_of(n, inverse_start(n, InverseStart::transpose_both), 6), expected = z * Dense(x);
  CHECK(frobenius(Dense(solved.solution) - expected) <= 1e-3L * frobenius(expected));
}

TEST_CASE("iterative_solve: what many steps make of rounding near a singular core is a breakdown and no result") {
  // Of the d eigenvalues of W most are 0 up to rounding, of either sign. Without rounding no |E| exceeds 1, and no step
  // makes the norm larger; it may become a tenth larger in a step where it is above 1.
  constexpr arma::uword d = 100;
  arma::mat core = arma::exp(0.3 * drawn<double>(d, 3, "q") * drawn<double>(d, 3, "k").t());
  core.each_col() /= arma::vec(arma::sum(core, 1));
  const arma::fmat n = arma::conv_to<arma::fmat>::from(core);
  for (const arma::uword columns : {arma::uword(5), d}) {  // with M and X, and by the inverse
    const arma::fmat x = n * drawn<float>(d, columns, "x");
    int broken = 0;
    for (int steps = 6; steps <= 40; ++steps) {
      CAPTURE(steps);
      try {
        CHECK(iterative_solve(n, x, {.iterations = steps}).residual <= std::pow(1.1, steps) * std::sqrt(d));
      } catch (const std::runtime_error& breakdown) {
        CHECK(contains(breakdown.what(), "diverged in step"));
        ++broken;
      }
    }
    CHECK(broken < 30);
    if (columns == 5) CHECK(broken > 0);  // the inverse corrects itself, and need not
  }
}

TEST_CASE("iterative_solve: the same bits for any number of threads") {
  const arma::fmat n = benign<float>(kSize), x = drawn<float>(kSize, 65, "x");
  const auto solved_with = [&](int count) {
    const ThreadCount threads(count);
    return iterative_solve(n, x, {.iterations = 6});
  };
  const IterativeSolution<float> one = solved_with(1);
  for (const int count : {2, 3, 5}) {
    const IterativeSolution<float> other = solved_with(count);
    CHECK(identical(other.solution, one.solution));
    CHECK(other.residual == one.residual);
  }
}

TEST_CASE("iterative_solve: a breakdown is a runtime_error, a wrong argument an invalid_argument") {
  const arma::mat eye(4, 4, arma::fill::eye), x(4, 1, arma::fill::ones);
  CHECK(contains(refusal<std::runtime_error>([&] { iterative_solve(arma::mat(4, 4, arma::fill::zeros), x, {}); }),
                 "the matrix is zero"));
  CHECK(contains(refusal<std::runtime_error>([&] {
                   iterative_solve<double>(100 * eye, x, {.start = InverseStart::identity, .iterations = 100});
                 }),
                 "diverged"));
  CHECK(refusal([&] { iterative_solve(eye, arma::mat(3, 1), {}); }) ==
        "iterative_solve: an X with as many rows as N, got N.rows = 4, X.rows = 3");
  CHECK(contains(refusal([&] { iterative_solve(arma::mat(4, 5), x, {}); }), "a square matrix"));
  CHECK(contains(refusal([&] { iterative_solve(arma::mat(), arma::mat(), {}); }), "a square matrix, got rows = 0"));
  arma::mat broken = eye;
  broken(1, 2) = broken(2, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(refusal<std::runtime_error>([&] { iterative_solve(broken, x, {}); }), "the entries are not finite"));
  CHECK(contains(refusal([&] { iterative_solve(eye, x, {.iterations = -1}); }), "iterations = -1"));
}

TEST_CASE(
    "iterative_solve_flops: of a symmetric W, blocks of 64 columns down to the diagonal, and of Z whole products") {
  constexpr double columns = 16;
  InverseIteration options{.iterations = 6, .symmetric = true};
  for (const arma::uword d : {40, 64, 128, 256}) {
    CAPTURE(d);
    double entries = 0;  // of a symmetric product that are computed
    for (arma::uword j = 0; j < d; ++j) entries += static_cast<double>(std::min(d, (j / 64 + 1) * 64));
    const auto size = static_cast<double>(d), with_x = 2 * size * size * columns;
    // N Z_0 and Z_0 X, and two products of each in a step.
    CHECK(iterative_solve_flops(size, columns, options) == (1 + 2 * 6) * (2 * size * entries + with_x));
    CHECK(iterative_solve_flops(size, size, options) == (4 * 6 + 1) * 2 * size * size * size);
  }
  options.symmetric = false;
  CHECK(iterative_solve_flops(128, columns, options) == (1 + 2 * 6) * 2.0 * 128 * 128 * (128 + columns));
}

TEST_CASE("iterative_solve: `rounding` has the size of the error of the last column, and is empty without columns") {
  // Within a factor of 30 of the error, in float against double, where eight steps make rounding visible. X = N Y.
  for (const bool symmetric : {false, true}) {
    for (const arma::uword c : {arma::uword(3), kSize}) {  // by steps for X, and by Z
      CAPTURE(symmetric);
      CAPTURE(c);
      const arma::vec values = arma::exp10(arma::linspace(-4, 0, kSize));
      const arma::fmat n =
          arma::conv_to<arma::fmat>::from(with_eigenvalues(kSize, values, Key(test_seed()).child("singular")));
      const arma::fmat exactly_symmetric = (n + n.t()) / 2, x = exactly_symmetric * drawn<float>(kSize, c, "x");
      const InverseIteration options{.start = InverseStart::transpose_one, .iterations = 8, .symmetric = symmetric};
      const IterativeSolution<float> found = iterative_solve(exactly_symmetric, x, options);
      const IterativeSolution<double> exact = iterative_solve(arma::conv_to<arma::mat>::from(exactly_symmetric),
                                                              arma::conv_to<arma::mat>::from(x), options);
      const double error =
          arma::norm(arma::conv_to<arma::vec>::from(found.solution.col(c - 1)) - exact.solution.col(c - 1));
      const double rounding = arma::norm(arma::conv_to<arma::vec>::from(found.rounding));
      CHECK(rounding >= error / 30);
      CHECK(rounding <= error * 30);
    }
  }
  CHECK(iterative_solve(benign<double>(5), arma::mat(5, 0), {}).rounding.is_empty());
}
