#include <doctest/doctest.h>
#include <croquis/kernel/gaussian.hpp>

#include <cmath>
#include <limits>

#include "support/attention.hpp"
#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("gaussian_kernel: entries are exp(-||x - y||^2 / 2)", T, float, double) {
  const Key draw_key = Key(test_seed()).child("entries");
  const std::tuple<arma::uword, arma::uword, arma::uword> sizes[] = {{1, 1, 1}, {7, 40, 3}, {40, 7, 3}, {33, 17, 64}};
  for (const auto& [a, b, p] : sizes) {
    CAPTURE_BINDING(a);
    const T scale = static_cast<T>(2 / std::sqrt(static_cast<double>(p)));
    const arma::Mat<T> x = scale * random_matrix<T>(a, p, draw_key.child("x")),
                       y = scale * random_matrix<T>(b, p, draw_key.child("y"));
    // Neither scaled nor moved, so gaussian_error is more than enough. Entries are at most 1.
    const double r = std::max(largest_row(x), largest_row(y));
    CHECK(distance(gaussian_kernel(x, y), gaussian_of(x, y)) <= gaussian_error<T>(static_cast<double>(p), r));
  }
}

TEST_CASE_TEMPLATE("gaussian_kernel: of one set is symmetric with a unit diagonal, duplicates included, to the bit", T,
                   float, double) {
  arma::Mat<T> x = random_matrix<T>(37, 5, Key(test_seed()).child("set"));
  x.row(36) = x.row(0);
  const arma::Mat<T> kernel = gaussian_kernel(x);
  CHECK(identical(kernel, arma::Mat<T>(kernel.t())));
  for (arma::uword i = 0; i < 37; ++i) CHECK(kernel(i, i) == 1);
  const double bound = gaussian_error<T>(5, largest_row(x));
  CHECK(std::abs(static_cast<double>(kernel(36, 0)) - 1) <= bound);
  CHECK(distance(kernel, gaussian_of(x, x)) <= bound);
  CHECK(gaussian_kernel(x, x).max() <= 1);  // though exponents of equal points round to either side of 0
}

TEST_CASE_TEMPLATE("gaussian_kernel: is invariant to a translation of all points", T, float, double) {
  const Key draw_key = Key(test_seed()).child("translation");
  const arma::Mat<T> x = random_matrix<T>(20, 4, draw_key.child("x")), y = random_matrix<T>(25, 4, draw_key.child("y"));
  const arma::Row<T> by = {T(1), T(-2), T(3), T(0.5)};
  const arma::Mat<T> centred_x = x.each_row() + by, centred_y = y.each_row() + by;
  const double r = std::max(largest_row(centred_x), largest_row(centred_y));
  CHECK(distance(gaussian_kernel(centred_x, centred_y), gaussian_kernel(x, y)) <= 2 * gaussian_error<T>(4, r));
}

TEST_CASE_TEMPLATE("gaussian_kernel: far points give no NaN and entries in [0, 1]", T, float, double) {
  const Key draw_key = Key(test_seed()).child("far");
  for (const T norm : {T(100), T(1e4), T(1e8)}) {
    arma::Mat<T> x = norm * random_matrix<T>(20, 6, draw_key);
    x.row(19) = x.row(3);
    for (const arma::Mat<T>& kernel : {gaussian_kernel(x), gaussian_kernel(x, x)}) {
      CHECK(kernel.is_finite());
      CHECK(kernel.min() >= 0);
      CHECK(kernel.max() <= 1);
    }
    CHECK(gaussian_kernel(x)(0, 1) == 0);
  }
}

TEST_CASE_TEMPLATE("gaussian_kernel: points whose squares overflow are near only to those beside them", T, float,
                   double) {
  const T far = 1000 * std::sqrt(std::numeric_limits<T>::max());
  const arma::Mat<T> x = {{far, 0}, {far, 1}, {0, 1}}, ones(3, 1, arma::fill::ones);
  CHECK(distance(gaussian_kernel(x, x), gaussian_of(x, x)) <= 8 * unit<T>());
  CHECK(distance(gaussian_product(x, x, ones), gaussian_of(x, x) * ones) <= 24 * unit<T>());
}

TEST_CASE_TEMPLATE("gaussian_kernel: the same bits for any number of threads, and no points give no kernel", T, float,
                   double) {
  const arma::Mat<T> x = random_matrix<T>(70, 8, Key(test_seed()).child("threads"));
  const ThreadCount one(1);
  const arma::Mat<T> expected = gaussian_kernel(x);
  for (const int team : {2, 4}) {
    const ThreadCount count(team);
    CHECK(identical(gaussian_kernel(x), expected));
  }
  const arma::Mat<T> none(0, 8);
  CHECK(arma::size(gaussian_kernel(x, none)) == arma::SizeMat(70, 0));
  CHECK(arma::size(gaussian_kernel(none, x)) == arma::SizeMat(0, 70));
}

TEST_CASE("gaussian_kernel: points of two widths are refused") {
  CHECK(refusal([] { gaussian_kernel(arma::mat(2, 3, arma::fill::ones), arma::mat(2, 4, arma::fill::ones)); }) ==
        "gaussian_kernel: points of one dimension, got x.cols = 3, y.cols = 4");
}

TEST_CASE("gaussian_kernel: a centre of another width than the points is refused") {
  const arma::mat points(2, 3, arma::fill::ones);
  for (const arma::uword width : {2U, 4U}) {
    const arma::rowvec centre(width, arma::fill::zeros);
    const CentredPoints<double> centred{points, 1, &centre};
    const std::string message =
        "gaussian_kernel: a centre as wide as the points, got centre = " + std::to_string(width) + ", x.cols = 3";
    CHECK(refusal([&] { gaussian_kernel<double>(centred); }) == message);
    CHECK(refusal([&] { gaussian_product<double>(centred, centred, points); }) == message);
  }
}
