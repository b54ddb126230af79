// Kernels of points against their formulas, in long double.
#include <doctest/doctest.h>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/point_kernels.hpp>

#include <cmath>
#include <string>
#include <tuple>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Dense by_formula(const arma::mat& points, const std::string& name, long double h) {
  const Dense x(points);
  Dense k(x.rows, x.rows);
  for (arma::uword i = 0; i < x.rows; ++i) {
    for (arma::uword j = 0; j < x.rows; ++j) {
      long double squares = 0, absolutes = 0;
      for (arma::uword c = 0; c < x.cols; ++c) {
        squares += (x(i, c) - x(j, c)) * (x(i, c) - x(j, c));
        absolutes += std::abs(x(i, c) - x(j, c));
      }
      const long double r = std::sqrt(squares) / h;
      if (name == "gaussian") k(i, j) = std::exp(-squares / (2 * h * h));
      if (name == "laplace") k(i, j) = std::exp(-absolutes / h);
      if (name == "matern32") k(i, j) = (1 + std::sqrt(3.0L) * r) * std::exp(-std::sqrt(3.0L) * r);
      if (name == "matern52") k(i, j) = (1 + std::sqrt(5.0L) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5.0L) * r);
    }
  }
  return k;
}

}  // namespace

TEST_CASE("point_kernel_matrix: every kernel is its formula, at any bandwidth and wherever the points lie") {
  for (const std::string& name : point_kernel_names()) {
    for (const double h : {0.3, 1.0, 7.0}) {
      for (const double shift : {0.0, 1e6}) {
        CAPTURE(name);
        CAPTURE(h);
        CAPTURE(shift);
        const arma::uword n = 30, p = 5;
        const arma::mat x = random_matrix(n, p, Key(test_seed()).child("points")) + shift;
        const KernelMatrix<double> kernel = point_kernel_matrix(x, point_kernel(name), h);
        const arma::mat all = kernel.dense();
        // p + 5 roundings of a distance s, of which exp(-s) has s exp(-s) <= 0.4; the Gaussian kernel promises 128 p u.
        const double bound = (name == "gaussian" ? 130.0 * p : p + 10.0) * unit<double>();
        CHECK(distance(Dense(all), by_formula(x, name, h)) <= bound);
        CHECK(arma::all(kernel.diagonal == 1));
        CHECK(arma::all(all.diag() == 1));
        CHECK(all.max() <= 1);
        CHECK(all.min() >= 0);
        CHECK(kernel.entry_error() >= 1);
        const arma::uvec rows = {3, 29, 3}, cols = {0, 7};
        CHECK(distance(kernel.block(rows, cols), all.submat(rows, cols)) <= bound);
      }
    }
  }
}

TEST_CASE("point_kernel_matrix: entry_error is a bound, and roundings of one sign come near it") {
  // A distance whose first term is 1, and the others too small to change it when they are added one after the other,
  // but together p - 1 times almost u. With k(s), s the scaled distance, the entry is off by s |k'(s)| (p - 1) u,
  // halved by the root of the two that have one. At the s where s |k'(s)| is largest this is .37, .27 and .30 of (p -
  // 1) u, and the bound 1 + p / 2 is 1.35, 1.85 and 1.65 times as large.
  constexpr arma::uword p = 1000;
  const double term = unit<double>() * (1 - 1e-6);
  for (const auto& [name, bandwidth, share] : {std::tuple("laplace", 1.0, 0.36),
                                               {"matern32", std::sqrt(3.0) / 2, 0.26},
                                               {"matern52", std::sqrt(5.0) / (1 + std::sqrt(3.0)), 0.29}}) {
    CAPTURE_BINDING(name);
    arma::mat x(2, p, arma::fill::zeros);
    x.row(1).fill(std::string(name) == "laplace" ? term : std::sqrt(term));
    x(1, 0) = 1;
    const KernelMatrix<double> kernel = point_kernel_matrix(x, point_kernel(name), bandwidth);
    const double off = distance(Dense(kernel.dense()), by_formula(x, name, bandwidth)) / unit<double>();
    CHECK(off >= share * p);
    CHECK(off <= kernel.entry_error());
    CHECK(kernel.entry_error() <= 1.9 * off);
  }
}

TEST_CASE("point_kernel_matrix: points so far or so near that squares overflow or vanish") {
  for (const std::string& name : point_kernel_names()) {
    CAPTURE(name);
    const arma::mat far = {{-1e140, 0}, {1e140, 1}, {1e140, 1}};
    const arma::mat k = point_kernel_matrix(far, point_kernel(name), 1).dense();
    CHECK(identical(k, arma::mat{{1, 0, 0}, {0, 1, 1}, {0, 1, 1}}));
    const arma::mat tiny = 1e-90 * random_matrix(6, 2, Key(2));
    CHECK(distance(Dense(point_kernel_matrix(tiny, point_kernel(name), 1e-90).dense()),
                   by_formula(tiny, name, 1e-90L)) <= 300 * unit<double>());
  }
}

TEST_CASE("point_kernel_matrix: the same bits for any number of threads") {
  const arma::mat x = random_matrix(300, 40, Key(3));
  for (const std::string& name : point_kernel_names()) {
    set_threads(1);
    const arma::mat one = point_kernel_matrix(x, point_kernel(name), 2).dense();
    set_threads(3);
    CHECK(identical(point_kernel_matrix(x, point_kernel(name), 2).dense(), one));
    set_threads(0);
  }
}

TEST_CASE("point_kernel_matrix: what is no kernel, no bandwidth and no points is refused") {
  CHECK(contains(refusal([] { point_kernel("matern12"); }), "gaussian laplace matern32 matern52"));
  for (const double h : {0.0, -1.0, 1e-101, 1e101, std::nan(""), HUGE_VAL}) {
    CHECK(contains(refusal([&] { point_kernel_matrix(arma::mat(2, 2, arma::fill::ones), PointKernel::laplace, h); }),
                   "bandwidth"));
  }
  CHECK(
      contains(refusal([] { point_kernel_matrix(arma::mat(0, 2), PointKernel::matern32, 1); }), "at least one point"));
  for (const std::string& name : point_kernel_names()) {
    for (const double entry : {std::nan(""), HUGE_VAL}) {
      const arma::mat x = {{1, 2}, {0, entry}};
      CHECK(contains(refusal([&] { point_kernel_matrix(x, point_kernel(name), 1); }), "finite"));
    }
  }
}
