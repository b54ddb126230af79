// The ridge regression of the kriged coreset against fits without one row.
#include <croquis/attention/kriged/kriging.hpp>

#include "attention/kriged/cases.hpp"

using namespace croquis;

TEST_CASE("kriged coreset: leave-one-out residuals in closed form are those of fits without the row") {
  const arma::mat x = random_matrix(7, 4, Key(test_seed()).child("x")), y = random_matrix(7, 3, Key(test_seed()));
  const arma::vec weights = {1, 2, 3, 1, 0.5, 4, 1};
  const arma::mat fitted = x * random_matrix(4, 3, Key(5)) + 0.1 * y;
  const Kriging kriging = krige(x, fitted, weights);
  REQUIRE(std::isfinite(kriging.ridge));
  double error = 0;
  for (arma::uword r = 0; r < 7; ++r) {
    arma::uvec others = arma::regspace<arma::uvec>(0, 6);
    others.shed_row(r);
    const Dense b = ridge_fit(x.rows(others).eval(), fitted.rows(others).eval(), kriging.ridge);
    const Dense missing = Dense(fitted.row(r).eval()) - Dense(x.row(r).eval()) * b;
    CHECK(distance(kriging.residuals.row(r), missing) <= 1e-8 * arma::norm(fitted, "fro"));
    error += weights(r) * std::pow(arma::norm(kriging.residuals.row(r)), 2);
  }
  CHECK(error < arma::dot(weights, arma::sum(arma::square(fitted), 1)));
  // Noise alone: nothing that a regression could find, and then none is made.
  const Kriging none = krige(arma::mat(7, 4, arma::fill::ones), arma::mat(7, 1, arma::fill::zeros), weights);
  CHECK(std::isinf(none.ridge));
  CHECK(none.inverse.is_empty());
  // Without a row that has anything in common with it, all ridges leave the whole of a row, up to rounding.
  for (arma::uword r = 0; r < 7; ++r) CHECK(std::isinf(krige(x.row(r), fitted.row(r), arma::vec{3}).ridge));
  for (const double scale : {0.1, 1.0 / 3, 7.0}) {
    CHECK(std::isinf(krige(scale * arma::mat(7, 7, arma::fill::eye), fitted, weights).ridge));
  }
}

TEST_CASE("kriged coreset: the ridge is the best of those that the search visits, by fits without each row") {
  const Key key = Key(test_seed()).child("ridges");
  const arma::vec weights = {1, 2, 3, 1, 0.5, 4, 1, 2, 1};
  int below = 0, above = 0;
  for (std::uint64_t i = 0; i < 24; ++i) {
    CAPTURE(i);
    const arma::mat x = random_matrix(9, 6, key.child("x").child(i)), y = random_matrix(9, 2, key.child("y").child(i));
    const arma::mat targets =
        x * random_matrix(6, 2, key.child("b").child(i)) + std::pow(10, 0.1 * static_cast<double>(i) - 1.5) * y;
    const double mean = std::pow(arma::norm(x, "fro"), 2) / 9;
    const auto error_at = [&](double exponent) {
      double error = 0;
      for (arma::uword r = 0; r < 9; ++r) {
        arma::uvec others = arma::regspace<arma::uvec>(0, 8);
        others.shed_row(r);
        const Dense b = ridge_fit(x.rows(others).eval(), targets.rows(others).eval(), std::pow(10, exponent) * mean);
        const Dense left = Dense(targets.row(r).eval()) - Dense(x.row(r).eval()) * b;
        error += weights(r) * std::pow(static_cast<double>(frobenius(left)), 2);
      }
      return error;
    };
    double best = arma::dot(weights, arma::sum(arma::square(targets), 1)), at = arma::datum::inf;
    const auto visit = [&](double exponent) {  // less than a ten thousandth better may be rounding
      if (const double error = error_at(exponent); error < 0.9999 * best) best = error, at = exponent;
    };
    for (const double exponent : {-6, -4, -2, 0, 2}) visit(exponent);
    const double coarse = at;
    for (const double step : {1.0, 0.5}) {
      const double centre = std::isfinite(at) ? at : 0;
      visit(centre - step);
      visit(centre + step);
    }
    const double ridge = krige(x, targets, weights).ridge;
    CHECK(std::isfinite(ridge) == std::isfinite(at));
    if (!std::isfinite(at)) continue;
    CHECK(std::log10(ridge / mean) == doctest::Approx(at).epsilon(1e-9));
    below += at < coarse ? 1 : 0;
    above += at > coarse ? 1 : 0;
  }
  CHECK(below >= 3);
  CHECK(above >= 3);
}
