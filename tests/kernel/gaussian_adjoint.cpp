#include <doctest/doctest.h>
#include <croquis/kernel/gaussian_adjoint.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "support/attention.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// Sums of differences, and what each of their rows may be off by in units of u.
struct Sums {
  Dense values;
  std::vector<long double> errors;
};

long double squared_length(const Dense& points, arma::uword i, long double origin) {
  long double square = 0;
  for (arma::uword c = 0; c < points.cols; ++c) square += (points(i, c) - origin) * (points(i, c) - origin);
  return square;
}

// scale^2 sum_j d_ij (y_j - x_i), pair by pair, for products of two columns in d = K o (G Z^T), none negative.
// Where h = scale^2 (|x|^2 + |y|^2) about the origin of the points, an exponent is off by (p + 4) u times itself, at
// most h, or times w_ij, of norms about a mean at most 1 from the origin, at most 2 + 2h; the exponential and two
// products by 8 u; sums of as many terms as there are points by as many u. So are products with lengths about the
// median, which add up before they cancel. It is at most sqrt(p) from the origin: half of 70 draws of N(0, 1) are
// beyond 1 with a probability of 4e-11, and there are 12 such columns. The median of 40, of one kind of points, has a
// standard deviation of 0.2, so that six together are sqrt(6) long with a probability far below that.
Sums summed_differences(const Dense& d, const Dense& x, const Dense& y, long double scale, long double origin) {
  const auto p = static_cast<long double>(x.cols), points = static_cast<long double>(x.rows + y.rows);
  Sums sums{Dense(x.rows, x.cols), std::vector<long double>(x.rows)};
  for (arma::uword i = 0; i < x.rows; ++i) {
    const long double of_x = squared_length(x, i, origin);
    for (arma::uword j = 0; j < y.rows; ++j) {
      const long double of_y = squared_length(y, j, origin), term = scale * scale * d(i, j);
      for (arma::uword c = 0; c < x.cols; ++c) sums.values(i, c) += term * (y(j, c) - x(i, c));
      const long double off = (p + 4) * (2 + 2 * scale * scale * (of_x + of_y)) + 8 + points;
      sums.errors[i] += term * off * (std::sqrt(of_x) + std::sqrt(of_y) + 2 * std::sqrt(p));
    }
  }
  return sums;
}

template <typename T>
void check_rows(const arma::Mat<T>& found, const Sums& expected) {
  const Dense off = Dense(found) - expected.values;
  for (arma::uword i = 0; i < off.rows; ++i) {
    CAPTURE(i);
    const auto error = static_cast<double>(std::sqrt(squared_length(off, i, 0)));
    CHECK(error <= unit<T>() * static_cast<double>(expected.errors[i]));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("gaussian adjoints: an offset and a point far away take no digits from the others", T, float,
                   double) {
  const Key key = Key(test_seed()).child("far");
  const arma::uword a = 30, b = 40, p = 6;
  const T scale = std::pow(static_cast<T>(p), T(-0.25)), huge = 1 / std::numeric_limits<T>::epsilon();
  for (const T offset : {T(0), huge / 8}) {
    for (const T far : {T(1), huge}) {
      CAPTURE(offset);
      CAPTURE(far);
      arma::Mat<T> x = random_matrix<T>(a, p, key.child("x")) + offset,
                   y = random_matrix<T>(b, p, key.child("y")) + offset;
      y.row(7) *= far;
      const arma::Mat<T> z = arma::abs(random_matrix<T>(b, 2, key.child("z"))),
                         g = arma::abs(random_matrix<T>(a, 2, key.child("g")));
      const arma::Row<T> centre = scale * arma::mean(arma::join_cols(x, y), 0);
      const CentredPoints<T> left{x, scale, &centre}, right{y, scale, &centre};
      const auto weights = [&](const Dense& cotangent, const Dense& from, const Dense& to) {
        const Dense ones(arma::Mat<T>(1, p, arma::fill::value(-offset)));  // exact; scaled points would be rounded
        const auto near = [&](const Dense& points) {
          return static_cast<long double>(scale) *
                 (points + Dense(arma::Mat<T>(points.rows, 1, arma::fill::ones)) * ones);
        };
        Dense d = gaussian_of(near(from), near(to));
        for (std::size_t i = 0; i < d.entries.size(); ++i) d.entries[i] *= cotangent.entries[i];
        return d;
      };
      const Dense d = weights(Dense(g) * transposed(Dense(z)), x, y);
      const GaussianAdjoint<T> found = gaussian_adjoint(left, right, z, g);
      check_rows(found.x, summed_differences(d, x, y, scale, offset));
      check_rows(found.y, summed_differences(transposed(d), y, x, scale, offset));
      const arma::Mat<T> cotangent = z * z.t();
      const Dense both = weights(2.0L * Dense(cotangent), y, y);
      check_rows(gaussian_kernel_adjoint(right, gaussian_kernel(right), cotangent),
                 summed_differences(both, y, y, scale, offset));
    }
  }
}

TEST_CASE_TEMPLATE("gaussian_adjoint: of products with no columns the points have no derivatives", T, float, double) {
  const Key key(test_seed());
  const arma::Mat<T> x = random_matrix<T>(5, 3, key.child("x")), y = random_matrix<T>(4, 3, key.child("y"));
  const CentredPoints<T> left{x}, right{y};
  // Leaves numbers in the memory that threads keep.
  gaussian_adjoint(left, right, random_matrix<T>(4, 2, key.child("z")), random_matrix<T>(5, 2, key.child("g")));
  const GaussianAdjoint<T> of_nothing = gaussian_adjoint(left, right, arma::Mat<T>(4, 0), arma::Mat<T>(5, 0));
  CHECK(identical(of_nothing.x, arma::Mat<T>(5, 3, arma::fill::zeros)));
  CHECK(identical(of_nothing.y, arma::Mat<T>(4, 3, arma::fill::zeros)));
  CHECK(arma::size(of_nothing.z) == arma::SizeMat(4, 0));
}

TEST_CASE("gaussian_adjoint: of points without coordinates K is 1") {
  const arma::mat x(5, 0), y(4, 0);
  const GaussianAdjoint<double> adjoint =
      gaussian_adjoint<double>({x}, {y}, arma::mat(4, 2, arma::fill::ones), arma::mat(5, 2, arma::fill::ones));
  CHECK(arma::size(adjoint.x) == arma::SizeMat(5, 0));
  CHECK(arma::size(adjoint.y) == arma::SizeMat(4, 0));
  CHECK(identical(adjoint.z, arma::mat(4, 2, arma::fill::value(5))));
}

TEST_CASE("gaussian_adjoint: points of two spaces, and sizes that do not fit, are refused") {
  const arma::mat x(5, 3, arma::fill::ones), y(4, 3, arma::fill::ones), z(4, 1), g(5, 1), square(5, 5);
  const arma::rowvec centre(3, arma::fill::ones);
  const auto said = [&](const CentredPoints<double>& left, const CentredPoints<double>& right) {
    return refusal([&] { gaussian_adjoint(left, right, z, g); });
  };
  CHECK(contains(said({x, 1}, {y, 3}), "points of one scale and one centre, got x.scale = 1, y.scale = 3"));
  CHECK(contains(said({x, 1, &centre}, {y, 1}), "points of one scale and one centre"));
  const arma::mat flat(4, 2);
  CHECK(contains(said({x}, {flat}), "points of one dimension, got x.cols = 3, y.cols = 2"));
  for (const arma::mat& wrong : {arma::mat(4, 4), arma::mat(7, 5)}) {
    CHECK(contains(refusal([&] { gaussian_kernel_adjoint<double>({x}, wrong, wrong); }),
                   "a kernel matrix of the points"));
    CHECK(contains(refusal([&] { gaussian_kernel_adjoint<double>({x}, square, wrong); }), "and its cotangent"));
  }
}
