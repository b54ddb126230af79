#include <doctest/doctest.h>
#include <croquis/kernel/gaussian_adjoint.hpp>

#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

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
