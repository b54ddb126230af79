#include <doctest/doctest.h>
#include <croquis/measure/sampled_norm.hpp>
#include <croquis/random/draws.hpp>

#include "support/dense.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

arma::mat normal_rows(arma::uword count, arma::uword columns, std::string_view purpose) {
  arma::mat rows(count, columns);
  fill_normal(Key(test_seed()).child(purpose), 0, rows.n_elem, rows.memptr());
  rows.each_row() %= arma::linspace<arma::rowvec>(1, 2, columns);  // a direction of its own
  return rows;
}

}  // namespace

TEST_CASE("sampled_spectral_norm: its parts by singular values of the rows outside a fold") {
  const arma::uword n = 90;
  for (const arma::uword count : {20, 37, 60}) {
    CAPTURE(count);
    const arma::mat rows = normal_rows(count, 5, "parts");
    double crossed = 0;
    arma::vec scores(count);
    for (arma::uword i = 0; i < count; ++i) {
      arma::mat others(0, 5), left, right;
      for (arma::uword j = 0; j < count; ++j) {
        if (j % 10 != i % 10) others.insert_rows(others.n_rows, rows.row(j));
      }
      arma::vec values;
      REQUIRE(arma::svd_econ(left, values, right, others));
      scores(i) = std::pow(arma::dot(rows.row(i), right.col(0)), 2);
      crossed += scores(i) / static_cast<double>(count);
    }
    const double above = std::pow(arma::norm(rows, 2), 2) / static_cast<double>(count);
    const double known = static_cast<double>(count) / static_cast<double>(n);
    const double below = known * above + (1 - known) * crossed;
    const SampledNorm norm = sampled_spectral_norm(rows, n);
    CHECK(norm.value == doctest::Approx(std::sqrt(90 * std::sqrt(above * below))).epsilon(1e-9));
    CHECK(norm.log_spread == doctest::Approx(std::log(above / below) / 4).epsilon(1e-6));
    CHECK(distance(norm.shares, scores / crossed) <= 1e-6 * norm.shares.max());
    CHECK(arma::mean(norm.shares) == doctest::Approx(1));
    CHECK(norm.n == n);
  }
}

TEST_CASE("sampled norms: all rows, extreme entries, zeros, sizes that are refused") {
  const arma::mat rows = normal_rows(40, 7, "norms");
  for (const double scale : {1.0, 1e200, 1e-200}) {
    CAPTURE(scale);
    const SampledNorm spectral = sampled_spectral_norm(scale * rows, 40);
    const SampledNorm frobenius = sampled_frobenius_norm(scale * rows, 40);
    CHECK(spectral.value / scale == doctest::Approx(arma::norm(rows, 2)).epsilon(1e-12));
    CHECK(frobenius.value / scale == doctest::Approx(arma::norm(rows, "fro")).epsilon(1e-12));
    CHECK((spectral.log_spread == 0 && frobenius.log_spread == 0));
    CHECK(sampled_frobenius_norm(scale * rows, 160).value / scale ==
          doctest::Approx(2 * arma::norm(rows, "fro")).epsilon(1e-12));
  }
  const arma::mat zero(40, 7, arma::fill::zeros);
  CHECK(sampled_spectral_norm(zero, 50).value == 0);
  CHECK(sampled_frobenius_norm(zero, 50).value == 0);
  CHECK(contains(refusal([&] { sampled_spectral_norm(rows.head_rows(19), 50); }), "20 <= count <= n"));
  CHECK(contains(refusal([&] { sampled_frobenius_norm(rows, 39); }), "20 <= count <= n"));
}

TEST_CASE("sampled_ratio: nothing to divide by, nothing above, one row that decides, another sample") {
  const arma::mat rows = normal_rows(40, 3, "ratio"), zero(40, 3, arma::fill::zeros);
  const SampledNorm norm = sampled_frobenius_norm(rows, 100), nothing = sampled_frobenius_norm(zero, 100);
  CHECK(std::isnan(sampled_ratio(norm, nothing, 0.05).value));
  CHECK(std::isnan(sampled_ratio(norm, nothing, 0.05).interval.hi));
  const SampledRatio none = sampled_ratio(nothing, norm, 0.05);
  CHECK((none.value == 0 && none.interval.lo == 0 && none.interval.hi == 0));
  const SampledRatio same = sampled_ratio(norm, norm, 0.05);  // all rows contribute the same: a point
  CHECK((same.value == 1 && same.interval.lo == 1 && same.interval.hi == 1 && same.effective_rows == 0));
  // One row of 40 has all: a variable that is not 0 with probability q has kurtosis (1 - 3 q (1 - q)) / (q (1 - q)).
  arma::mat spike(40, 3, arma::fill::ones);
  const SampledNorm even = sampled_frobenius_norm(spike, 100);
  spike.row(7) *= 1000;
  const double q = 1.0 / 40;
  const SampledRatio one = sampled_ratio(sampled_frobenius_norm(spike, 100), even, 0.05);
  CHECK(one.effective_rows == doctest::Approx(40 * q * (1 - q) / (1 - 3 * q * (1 - q))));
  CHECK(one.interval.hi > 50 * one.interval.lo);
  CHECK(contains(refusal([&] { sampled_ratio(norm, sampled_frobenius_norm(rows.head_rows(30), 100), 0.05); }),
                 "norms of one sample"));
}

TEST_CASE("sampled_ratio: the margin by the formulas of the header") {
  const arma::mat above = normal_rows(40, 3, "above"), below = normal_rows(40, 3, "below");
  for (const bool spectral : {false, true}) {
    CAPTURE(spectral);
    const SampledNorm numerator = spectral ? sampled_spectral_norm(above, 100) : sampled_frobenius_norm(above, 100);
    const SampledNorm denominator = spectral ? sampled_spectral_norm(below, 100) : sampled_frobenius_norm(below, 100);
    arma::vec z = (numerator.shares - denominator.shares) / 2;
    z -= arma::mean(z);
    const double square = arma::accu(arma::pow(z, 2)) / 40, fourth = arma::accu(arma::pow(z, 4)) / 40;
    const double kurtosis = fourth / (square * square);
    const double t = student_quantile(40 / 2.0 / (kurtosis - 1), 0.05);
    const double s = std::sqrt((1 - 40.0 / 100) / 40 * square * 40 / 39);
    const double margin = t * s + numerator.log_spread / 2 + denominator.log_spread / 2;
    const SampledRatio ratio = sampled_ratio(numerator, denominator, 0.05);
    CHECK(ratio.value == doctest::Approx(numerator.value / denominator.value));
    CHECK(std::log(ratio.interval.hi / ratio.value) == doctest::Approx(margin));
    CHECK(std::log(ratio.value / ratio.interval.lo) == doctest::Approx(margin));
    CHECK(ratio.effective_rows == doctest::Approx(40 / kurtosis));
    CHECK((denominator.log_spread > 0) == spectral);
  }
}
