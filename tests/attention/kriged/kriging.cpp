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
