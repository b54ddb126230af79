#include <doctest/doctest.h>
#include <croquis/measure/errors.hpp>

#include <cmath>
#include <limits>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE("OutputReference: errors are the norms of the difference, relative ones over that of the exact output") {
  const Key draw_key = Key(test_seed()).child("errors");
  const arma::mat exact = random_matrix(30, 4, draw_key.child("exact")),
                  wrong = exact + 0.1 * random_matrix(30, 4, draw_key.child("error"));
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

TEST_CASE("OutputReference: a difference that overflows is an infinite error, not an output that is not finite") {
  const OutputReference reference(arma::mat(3, 2, arma::fill::value(1.7e308 / 8)));
  CHECK(std::isinf(reference.compare(arma::mat(3, 2, arma::fill::value(-1.7e308))).max_abs));
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

TEST_CASE_TEMPLATE("ScoreReference: ||B - B~|| matrix-free is that of the stored matrices, for every method", T, float,
                   double) {
  const arma::uword n = 70, d = 20;
  const Key draw_key = Key(test_seed()).child("score errors");
  const Problem<T> plain = random_problem<T>(n, 8, 3, 3, draw_key);
  const Problem<T> problem(plain.Q(), plain.K(), plain.V(), {},
                           {arma::Col<T>(arma::linspace<arma::Col<T>>(-1, 1, 2 * n - 1)), false, 1});
  const auto wide = [](const arma::Mat<T>& m) { return arma::conv_to<arma::mat>::from(m); };
  const Problem<double> exact(wide(problem.Q()), wide(problem.K()), wide(problem.V()), {},
                              {arma::conv_to<arma::vec>::from(problem.position().bias), false, 1});
  for (const Method<T>& method : methods<T>()) {
    CAPTURE(method.name);
    const Approximation<T> approximation = prepare(method, problem).approximate(d, draw_key);
    REQUIRE(approximation.scores.has_value());
    const arma::mat b = exact_scores(exact, method.target).dense(), approximate = wide(approximation.scores->dense());
    const double size = arma::svd(b)(0), error = arma::svd(arma::mat(b - approximate))(0);
    const ScoreReference reference(exact, method.target, draw_key.child("size"));
    const ScoreErrors errors = reference.compare(*approximation.scores, draw_key.child("error"));
    // Lanczos stops at a residual of 1e-4 of the value, at which the value is off by its square over a gap in the
    // spectrum, 1e-4 at most. Products of T with n terms are off by n u a term.
    const double rounding = 20 * static_cast<double>(n) * unit<T>() * (size + arma::norm(approximate, "fro"));
    CHECK(std::abs(reference.spectral() / size - 1) <= 1e-4);
    CHECK(std::abs(errors.spectral_abs - error) <= 1e-4 * error + rounding);
    CHECK(errors.spectral_rel == doctest::Approx(errors.spectral_abs / reference.spectral()).epsilon(1e-15));
  }
}

TEST_CASE("ScoreReference: exact scores have no error, and those that are not finite are a runtime_error") {
  const Problem<double> problem = random_problem<double>(30, 4, 2, 2, Key(3));
  const ScoreReference reference(problem, Target::softmax, Key(1));
  CHECK(reference.compare(exact_scores(problem, Target::softmax), Key(2)).spectral_abs == 0);
  arma::mat bad(30, 30, arma::fill::zeros);
  bad(3, 4) = arma::datum::nan;
  CHECK(refusal<std::runtime_error>([&] { reference.compare(as_operator(bad), Key(2)); }) ==
        "the scores are not finite");
}

TEST_CASE_TEMPLATE("row_sum_deviation: is the largest distance of a row sum from 1, of either sign", T, float, double) {
  arma::Mat<T> scores(4, 4, arma::fill::value(T(0.25)));
  CHECK(row_sum_deviation(as_operator(scores)) == 0);
  scores(0, 3) += T(0.5);
  CHECK(row_sum_deviation(as_operator(scores)) == 0.5);
  scores(3, 0) -= T(2);
  CHECK(row_sum_deviation(as_operator(scores)) == 2);
}

TEST_CASE_TEMPLATE("row_sum_deviation: a row sum that is not a number is not passed over", T, float, double) {
  const arma::Mat<T> right(4, 4, arma::fill::value(T(0.25)));
  Approximation<T> approximation;
  approximation.scores = as_operator(right);
  for (const arma::uword row : {0, 1, 3}) {
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::quiet_NaN()}) {
      arma::Mat<T> scores = right;
      scores(row, 2) = bad;
      CHECK(std::isnan(row_sum_deviation(as_operator(scores))));
      approximation.row_sums = arma::Col<T>(4, arma::fill::value(T(7)));
      (*approximation.row_sums)(row) = bad;
      CHECK(std::isnan(row_sum_deviation(approximation)));
    }
  }
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
  // Zero is zero at any scale, also where the scale overflows; what is not a number is not passed over.
  const Denominators<T> zero = {{T(1), T(0), T(1)}, {T(1000), T(0), T(0)}};
  CHECK(smallest_denominator(zero, log_sums) == 0);
  const Denominators<T> no_number = {{T(1), std::numeric_limits<T>::quiet_NaN(), T(1)}, {T(1000), T(-1000), T(0)}};
  CHECK(std::isnan(smallest_denominator(no_number, log_sums)));
}

TEST_CASE("smallest_denominator: as many estimates and scales as row sums") {
  const arma::vec two(2, arma::fill::ones), three(3, arma::fill::ones);
  const auto message = [](const arma::vec& values, const arma::vec& scales, const arma::vec& sums) {
    return refusal([&] { (void)smallest_denominator<double>({values, scales}, sums); });
  };
  CHECK(message(two, two, two) == "nothing was thrown");
  CHECK(contains(message(three, two, two), "smallest_denominator: an estimate and its scale for each row sum"));
  CHECK(contains(message(two, three, two), "estimates = 2, scales = 3, row sums = 2"));
  CHECK(contains(message(two, two, three), "estimates = 2, scales = 2, row sums = 3"));
}
