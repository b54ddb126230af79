#include <doctest/doctest.h>
#include <croquis/kernel/kernel_matrix.hpp>

#include <limits>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("stored_kernel_matrix: what is not square, and a diagonal with anything but numbers >= 0", T, float,
                   double) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  const auto said = [](const arma::Mat<T>& matrix) { return refusal([&] { stored_kernel_matrix(matrix); }); };
  CHECK(said({{1, 0}, {0, 0}}) == "nothing was thrown");
  CHECK(contains(said(arma::Mat<T>(2, 3, arma::fill::ones)), "a square matrix"));
  for (const T entry : {nan, inf, -inf, T(-1)}) {
    CHECK(contains(said({{1, 0}, {0, entry}}), "stored_kernel_matrix: a finite, non-negative diagonal"));
    CHECK(contains(said({{entry, 0}, {0, 1}}), "stored_kernel_matrix: a finite, non-negative diagonal"));
  }
}

TEST_CASE_TEMPLATE("gaussian_kernel_matrix: no points, and points or a scale that are not finite", T, float, double) {
  constexpr T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  const arma::Mat<T> good = {{1, 2}, {3, 4}};
  CHECK(contains(refusal([] { gaussian_kernel_matrix(arma::Mat<T>(0, 2)); }), "at least one point"));
  for (const T entry : {nan, inf, -inf}) {
    arma::Mat<T> points = good;
    points(1, 0) = entry;
    CHECK(contains(refusal([&] { gaussian_kernel_matrix(points); }), "gaussian_kernel_matrix: finite points"));
    CHECK(contains(refusal([&] { gaussian_kernel_matrix(good, entry); }), "a finite scale"));
  }
}

TEST_CASE_TEMPLATE("KernelMatrix::columns: those that are asked for, and none that is not there", T, float, double) {
  const arma::Mat<T> m = {{2, 1, 0}, {1, 3, 1}, {0, 1, 4}};
  const KernelMatrix<T> kernel = stored_kernel_matrix(m);
  CHECK(arma::approx_equal(kernel.columns({2, 0, 2}), m.cols(arma::uvec{2, 0, 2}), "absdiff", T(0)));
  CHECK(kernel.columns({}).n_cols == 0);
  CHECK(refusal([&] { kernel.columns({0, 3}); }) == "KernelMatrix::columns: columns below n, got column = 3, n = 3");
}

TEST_CASE_TEMPLATE("gaussian_kernel_matrix: all of it is symmetric to the bit, wherever the points lie", T, float,
                   double) {
  const arma::Mat<T> x = random_matrix<T>(60, 3, Key(test_seed()).child("symmetric"));
  const arma::Mat<T> kernel = gaussian_kernel_matrix<T>(x).dense();
  CHECK(identical(kernel, arma::Mat<T>(kernel.t())));
  CHECK(arma::all(kernel.diag() == T(1)));
  // What entries are off by depends on how far the points are from their mean, not from zero.
  CHECK(static_cast<double>(gaussian_kernel_matrix<T>(x + T(100)).entry_error()) ==
        doctest::Approx(static_cast<double>(gaussian_kernel_matrix<T>(x).entry_error())).epsilon(0.01));
}
