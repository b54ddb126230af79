#include <doctest/doctest.h>
#include <croquis/measure/errors.hpp>

#include <cmath>
#include <limits>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"

using namespace croquis;

TEST_CASE("OutputReference: errors are the norms of the difference, relative ones over that of the exact output") {
  const Stream stream = Stream(test_seed()).child("errors");
  const arma::mat exact = random_matrix(30, 4, stream.child("exact")),
                  wrong = exact + 0.1 * random_matrix(30, 4, stream.child("error"));
  const OutputReference reference(exact);
  const OutputErrors errors = reference.compare(wrong);
  const arma::vec of_error = arma::svd(arma::mat(exact - wrong)), of_exact = arma::svd(exact);
  // Norms of 30 x 4 matrices: entries of 120 squares, 120 u relatively, quotients twice that; of O - O~ the
  // subtraction.
  const double bound = 4 * 120 * unit<double>();
  CHECK(std::abs(errors.spectral_abs / of_error(0) - 1) <= bound);
  CHECK(std::abs(errors.spectral_rel / (of_error(0) / of_exact(0)) - 1) <= bound);
  const auto frobenius_error = static_cast<double>(frobenius(Dense(exact) - wrong)),
             size = static_cast<double>(frobenius(exact));
  CHECK(std::abs(errors.frobenius_abs / frobenius_error - 1) <= bound);
  CHECK(std::abs(errors.frobenius_rel / (frobenius_error / size) - 1) <= bound);
  CHECK(std::abs(errors.max_abs - distance(exact, wrong)) <= bound);
  CHECK(std::abs(reference.spectral() / of_exact(0) - 1) <= bound);
}

TEST_CASE("OutputReference: the exact output has no error, and one entry off by 1 has error 1 in every norm") {
  arma::mat exact(5, 3, arma::fill::eye);
  const OutputReference reference(exact);
  const OutputErrors none = reference.compare(exact);
  for (const double e : {none.spectral_abs, none.spectral_rel, none.frobenius_abs, none.frobenius_rel, none.max_abs})
    CHECK(e == 0);
  exact(4, 2) -= 1;
  const OutputErrors one = reference.compare(exact);
  CHECK(one.spectral_abs == 1);
  CHECK(one.frobenius_abs == 1);
  CHECK(one.max_abs == 1);
  CHECK(one.spectral_rel == doctest::Approx(1));
  CHECK(one.frobenius_rel == doctest::Approx(1 / std::sqrt(3.0)));
}

TEST_CASE("OutputReference: relative errors of a zero output are undefined, absolute ones are not") {
  const OutputReference reference(arma::mat(4, 2, arma::fill::zeros));
  const OutputErrors errors = reference.compare(arma::mat(4, 2, arma::fill::ones));
  CHECK(std::isnan(errors.spectral_rel));
  CHECK(std::isnan(errors.frobenius_rel));
  CHECK(errors.spectral_abs == doctest::Approx(std::sqrt(8.0)));
  CHECK(errors.max_abs == 1);
}

TEST_CASE("OutputReference: an output that is not finite is a runtime_error, one of another size an invalid_argument") {
  const OutputReference reference(arma::mat(3, 2, arma::fill::ones));
  for (const double bad : {arma::datum::nan, arma::datum::inf, -arma::datum::inf}) {
    arma::mat output(3, 2, arma::fill::ones);
    output(2, 1) = bad;
    CHECK(refusal<std::runtime_error>([&] { reference.compare(output); }) == "the output is not finite");
  }
  CHECK(refusal([&] { reference.compare(arma::mat(4, 2, arma::fill::ones)); }) ==
        "OutputReference::compare: outputs of one size, got rows = 4, exact rows = 3");
  CHECK(contains(refusal([&] { reference.compare(arma::mat(3, 3, arma::fill::ones)); }), "outputs of one size"));
}

TEST_CASE_TEMPLATE("row_sum_deviation: is the largest distance of a row sum from 1, of either sign", T, float, double) {
  arma::Mat<T> scores(4, 4, arma::fill::value(T(0.25)));
  CHECK(row_sum_deviation(as_operator(scores)) == 0);
  scores(0, 3) += T(0.5);
  CHECK(row_sum_deviation(as_operator(scores)) == 0.5);
  scores(3, 0) -= T(2);
  CHECK(row_sum_deviation(as_operator(scores)) == 2);
}

TEST_CASE_TEMPLATE("smallest_denominator: is the smallest estimated row sum over the true one, without overflow", T,
                   float, double) {
  // Row sums exp(1000), exp(-1000) and 1, estimated at twice, half and minus three times that.
  const arma::vec log_sums = {1000, -1000, 0};
  const Denominators<T> estimated = {{T(2), T(0.5), T(-3)}, {T(1000), T(-1000), T(0)}};
  CHECK(smallest_denominator(estimated, log_sums) == doctest::Approx(-3));
  const Denominators<T> positive = {{T(2), T(0.5), T(1)}, {T(1000), T(-1000), T(0)}};
  CHECK(smallest_denominator(positive, log_sums) == doctest::Approx(0.5));
  // The scale may stand in the logarithm instead: exp(1) at log scale 999.
  const Denominators<T> moved = {{std::exp(T(1)), T(7), T(7)}, {T(999), T(-1000), T(0)}};
  CHECK(smallest_denominator(moved, log_sums) == doctest::Approx(1).epsilon(4 * unit<T>()));
  const Denominators<T> lost = {{T(1), T(0), T(1)}, {T(1000), T(-1000), T(0)}};
  CHECK(smallest_denominator(lost, log_sums) == 0);
}
