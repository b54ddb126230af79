// Rows of sketches and of landmarks, against S written out and the lift by its definition.
#include <doctest/doctest.h>

#include <cmath>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/measure/sketch_quality.hpp>

#include "support/attention.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Key quality_key(const char* name) {
  return Key(test_seed()).child("sketch quality").child(name);
}

double frobenius_of(const arma::mat& m) {
  return std::sqrt(arma::accu(arma::square(m)));
}

}  // namespace

TEST_CASE("leading_basis: orthonormal, of the largest directions, and of no more than there are") {
  const arma::mat matrix = with_singular_values(20, 8, {5, 3, 1}, quality_key("basis"));
  const arma::mat two = leading_basis(matrix, 2);
  REQUIRE(arma::size(two) == arma::SizeMat(20, 2));
  CHECK(distance(two.t() * two, identity(2)) <= 1e-13);
  CHECK(std::abs(arma::svd(matrix - two * (two.t() * matrix)).max() - 1) <= 1e-12);  // the third is left
  CHECK(leading_basis(matrix, 8).n_cols == 3);
  CHECK(contains(refusal([] { leading_basis(arma::mat(4, 3, arma::fill::zeros), 2); }),
                 "leading_basis: a matrix that is not zero"));
  CHECK(refusal([] { leading_basis(arma::mat(0, 3), 2); }) ==
        "leading_basis: a matrix with an entry, got rows = 0, cols = 3");
}

TEST_CASE("SketchQuality: a row is what S, written out, does to the columns, to the basis and to B V") {
  const auto problem = random_problem<double>(30, 4, 3, 2, quality_key("problem"));
  arma::mat matrix = random_matrix(30, 6, quality_key("matrix"));
  matrix.col(2).zeros();  // it has no relative error
  const arma::mat basis = leading_basis(matrix, 5);
  const SketchQuality quality(matrix, basis, problem), without(matrix, basis, {});
  const arma::mat b = in_double(scores_of(problem.Q(), problem.K(), Target::softmax)), bv = b * problem.V();
  for (const arma::uword d : {3, 12}) {
    CAPTURE(d);
    const SketchDescription description = describe_sketch("gaussian", 30, d, quality_key("sketch"));
    const arma::mat s = make_sketch<double>(description).dense();
    const SketchRow row = quality.row(description);
    double norm_error = 0;
    for (arma::uword c = 0; c < 6; ++c) {
      const arma::vec x = matrix.col(c), sketched = s.t() * x;
      if (c != 2) norm_error += std::abs(arma::dot(sketched, sketched) / arma::dot(x, x) - 1) / 5;
    }
    const arma::vec squares = arma::eig_sym(arma::mat(basis.t() * s * s.t() * basis));
    const arma::mat error = bv - b * (s * (s.t() * problem.V()));
    CHECK(row.status == "ok");
    CHECK(row.kind == "operator");
    CHECK(row.n == 30);
    CHECK(row.cols == 6);
    CHECK(row.rank == 5);
    CHECK(row.features == d);
    CHECK(row.norm_error == doctest::Approx(norm_error).epsilon(1e-10));
    CHECK(row.dilation == doctest::Approx(std::sqrt(squares.max())).epsilon(1e-10));
    // Three columns cannot embed five directions.
    CHECK(row.injectivity == doctest::Approx(d < 5 ? 0 : std::sqrt(squares.min())).epsilon(1e-8));
    CHECK(row.product_spectral_rel == doctest::Approx(arma::svd(error).max() / arma::svd(bv).max()).epsilon(1e-8));
    CHECK(row.product_frobenius_rel == doctest::Approx(frobenius_of(error) / frobenius_of(bv)).epsilon(1e-10));
    CHECK(std::isnan(row.nystrom_trace_rel));
    CHECK(std::isnan(without.row(description).product_frobenius_rel));
    CHECK(without.row(description).dilation == row.dilation);
  }
}

TEST_CASE("SketchQuality: scales of a matrix, of a column and of a factor change nothing, however small or large") {
  const arma::mat matrix = random_matrix(30, 4, quality_key("matrix")), factor = random_matrix(30, 3, quality_key("b"));
  const arma::mat basis = leading_basis(matrix, 4);
  const SketchDescription description = describe_sketch("gaussian", 30, 12, quality_key("sketch"));
  const SketchRow row = SketchQuality(matrix, basis, {}, factor).row(description);
  REQUIRE(row.status == "ok");
  for (const double scale : {0x1p-1000, 0x1p-540, 0x1p-530, 0x1p540, 0x1p900}) {  // powers of two: without rounding
    CAPTURE(scale);
    const SketchRow scaled = SketchQuality(matrix * scale, basis, {}, factor * scale).row(description);
    CHECK(scaled.status == "ok");
    CHECK(scaled.norm_error == row.norm_error);
    CHECK(scaled.product_frobenius_rel == row.product_frobenius_rel);
    arma::mat one = matrix;
    one.col(2) *= std::min(scale, 1 / scale);
    CHECK(SketchQuality(one, basis, {}).row(description).norm_error == row.norm_error);
  }
}

TEST_CASE("SketchQuality: a sketch that fails has its reason and no numbers") {
  const arma::mat matrix = random_matrix(30, 6, quality_key("matrix"));
  SketchDescription description = describe_sketch("gaussian", 30, 4, Key(1));
  description.distribution = "no such";
  const SketchRow row = SketchQuality(matrix, leading_basis(matrix, 5), {}).row(description);
  CHECK(contains(row.status, "no such"));
  CHECK(std::isnan(row.dilation));
  CHECK(row.features == 4);
}

TEST_CASE("SketchQuality: what an operator does not take is a status with the operator's name") {
  const arma::mat matrix = random_matrix(30, 6, quality_key("matrix"));
  const SketchQuality quality(matrix, leading_basis(matrix, 5), {});
  const auto status = [&](const char* name, arma::uword d, std::map<std::string, double> parameters) {
    const SketchRow row = quality.row({name, 30, d, Key(1).name(), std::move(parameters), {}});
    CHECK(row.features == d);
    CHECK(std::isnan(row.norm_error) == (row.status != "ok"));
    return row.status;
  };
  CHECK(status("sjlt", 8, {{"s", 8}}) == "ok");
  CHECK(status("sjlt", 4, {{"s", 8}}) == "sjlt: s a whole number in 1 ... d, got s = 8, rows = 30, cols = 4");
  CHECK(status("srht", 32, {}) == "ok");
  CHECK(status("srht", 33, {}).starts_with("srht: n >= 1, 1 <= d <= n'"));
}

TEST_CASE("LandmarkQuality: the errors of the Nystrom approximation of the lift, written out") {
  const auto problem = random_problem<double>(15, 4, 2, 4, quality_key("landmarks"));
  const arma::mat m = in_double(gaussian_of(stacked_points(problem), stacked_points(problem)));
  LandmarkQuality quality(problem);
  for (const std::string policy : {"uniform", "rpcholesky"}) {
    quality.prepare(policy);
    for (const arma::uword d : {1, 6}) {
      CAPTURE(policy);
      CAPTURE(d);
      const Key key = quality_key("draw").child(d);
      const KernelMatrix<double> kernel = LiftedPoints<double>(problem.Q(), problem.K()).kernel();
      const arma::uvec landmarks = LandmarkSampler<double>(kernel, landmark_policy(policy)).draw(d, key);
      const arma::mat columns = m.cols(landmarks);
      const arma::mat rest = m - columns * arma::pinv(arma::mat(columns.rows(landmarks)), 1e-10) * columns.t();
      const SketchRow row = quality.row(d, key);
      CHECK(row.status == "ok");
      CHECK(row.kind == "landmarks");
      CHECK(row.features == d);
      CHECK(row.nystrom_spectral_rel == doctest::Approx(arma::norm(rest, 2) / arma::norm(m, 2)).epsilon(1e-3));
      CHECK(row.nystrom_trace_rel == doctest::Approx(arma::trace(rest) / 30).epsilon(1e-8));
      CHECK(std::isnan(row.dilation));
    }
  }
  CHECK(quality.row(31, Key(1)).status != "ok");
}

TEST_CASE("LandmarkQuality: no row before a policy is prepared") {
  const LandmarkQuality quality(gaussian_input(Key(1), {.n = 4, .p = 2}));
  CHECK(refusal([&] { (void)quality.row(2, Key(1)); }) == "LandmarkQuality::row: prepare() before it, with a policy");
}
