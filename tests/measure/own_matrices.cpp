// What is measured of sketches and landmarks, against the matrices written out.
#include <doctest/doctest.h>

#include <cmath>
#include <croquis/kernel/point_kernels.hpp>
#include <croquis/kernel/semidefinite.hpp>
#include <croquis/measure/sketch_quality.hpp>
#include <string>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Key key(const char* name) {
  return Key(test_seed()).child("sketch quality").child(name);
}

// G - C W^-1 C^T for different landmarks, in long double.
arma::mat residual(const arma::mat& g, const arma::uvec& landmarks) {
  const Dense c(arma::mat(g.cols(landmarks))), w(arma::mat(g.submat(landmarks, landmarks)));
  return in_double(Dense(g) - c * inverted(w) * transposed(c));
}

struct Case {
  std::string name;
  arma::mat g;
  KernelMatrix<double> kernel;
};

std::vector<Case> matrices() {
  const arma::mat g = with_eigenvalues(60, arma::exp2(-arma::linspace(0, 12, 60)), key("matrix"));
  std::vector<Case> cases = {{"a matrix", 1e30 * g, semidefinite_kernel_matrix(1e30 * g)}};
  for (const std::string& name : point_kernel_names()) {
    const auto kernel = point_kernel_matrix(random_matrix(60, 3, key("points")), point_kernel(name), 1.5);
    cases.push_back({name, kernel.dense(), kernel});
  }
  return cases;
}

}  // namespace

TEST_CASE("LandmarkQuality: Nystrom errors of a matrix and of kernels of points are those of G - C W^-1 C^T") {
  for (const Case& c : matrices()) {
    LandmarkQuality quality(c.kernel), unstored(c.kernel, false);
    for (const char* policy : {"leverage", "recursive", "rpcholesky"}) {
      CAPTURE(c.name);
      CAPTURE(std::string(policy));
      const Key draw = key("landmarks").child(policy);
      quality.prepare(policy);
      unstored.prepare(policy);
      const SketchRow row = quality.row(12, draw), blocks = unstored.row(12, draw);
      REQUIRE(row.status == "ok");
      const arma::uvec landmarks =
          arma::unique(LandmarkSampler<double>(c.kernel, landmark_policy(policy)).draw(12, draw));
      const arma::mat rest = residual(c.g, landmarks);
      // Lanczos to 1e-4, from below.
      CHECK(row.nystrom_spectral_rel == doctest::Approx(arma::norm(rest, 2) / arma::norm(c.g, 2)).epsilon(2e-4));
      CHECK(row.nystrom_trace_rel == doctest::Approx(arma::trace(rest) / arma::trace(c.g)).epsilon(1e-6));
      CHECK(blocks.status == "ok");
      CHECK(blocks.nystrom_trace_rel == row.nystrom_trace_rel);
      CHECK(std::isnan(blocks.nystrom_spectral_rel));
    }
  }
}

TEST_CASE("LandmarkQuality: as many landmarks as the rank leave nothing, zero columns leave everything") {
  const arma::mat x = random_matrix(40, 5, key("low rank"));
  LandmarkQuality quality(semidefinite_kernel_matrix(x * x.t()));
  quality.prepare("rpcholesky");
  for (const arma::uword d : {5, 20}) {
    const SketchRow row = quality.row(d, key("all"));
    REQUIRE(row.status == "ok");
    CHECK(std::abs(row.nystrom_trace_rel) <= 1e-12);
    CHECK(row.nystrom_spectral_rel <= 1e-12);
  }
  arma::mat one(40, 40, arma::fill::zeros);
  one(0, 0) = 3;
  LandmarkQuality zeros(semidefinite_kernel_matrix(one));
  zeros.prepare("uniform");
  const SketchRow row = zeros.row(1, Key(1));  // 0 is drawn with probability 1/40; the random key is fixed
  CHECK(row.status == "ok");
  CHECK(row.nystrom_trace_rel == 1);
  CHECK(row.nystrom_spectral_rel == doctest::Approx(1));
}

TEST_CASE("SketchQuality: the error of A^T S S^T B is that of the matrices written out") {
  const arma::mat a = random_matrix(50, 6, key("a")), b = random_matrix(50, 4, key("b"));
  const SketchQuality quality(a, leading_basis(a, 6), {}, b);
  for (const char* name : {"gaussian", "srht", "uniform", "countsketch"}) {
    CAPTURE(std::string(name));
    const auto description = describe_sketch(name, 50, 9, key("draw"), {}, {});
    const SketchRow row = quality.row(description);
    REQUIRE(row.status == "ok");
    const Dense s(make_sketch<double>(description).dense());
    const Dense exact = transposed(Dense(a)) * Dense(b),
                wrong = exact - transposed(Dense(a)) * s * transposed(s) * Dense(b);
    CHECK(row.product_frobenius_rel == doctest::Approx(static_cast<double>(frobenius(wrong) / frobenius(exact))));
    CHECK(row.product_spectral_rel ==
          doctest::Approx(arma::norm(in_double(wrong), 2) / arma::norm(in_double(exact), 2)));
    const SketchRow alone = SketchQuality(a, leading_basis(a, 6), {}).row(description);
    CHECK(std::isnan(alone.product_spectral_rel));
    CHECK(alone.norm_error == row.norm_error);
    CHECK(alone.injectivity == row.injectivity);
  }
  CHECK(contains(refusal([&] { SketchQuality(a, a, {}, arma::mat(49, 2, arma::fill::ones)); }), "as many rows"));
  CHECK(contains(refusal([&] { SketchQuality(a, a.head_rows(49), {}); }), "basis.rows = 49"));
  CHECK(contains(refusal([&] { SketchQuality(a, a.head_cols(0), {}); }), "basis.cols = 0"));
  const Problem<double> other(arma::mat(50, 2), arma::mat(49, 2), arma::mat(49, 2));
  CHECK(contains(refusal([&] { SketchQuality(a, a, other); }), "V.rows = 49"));
  arma::mat nan = a;
  nan(3, 1) = arma::datum::nan;
  for (const arma::mat& refused : {nan, arma::mat(0 * a), arma::mat()}) {
    CHECK(contains(refusal([&] { SketchQuality(refused, a, {}); }), "a matrix that is finite, and not zero"));
  }
}
