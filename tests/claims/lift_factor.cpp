#include <doctest/doctest.h>
#include <croquis/claims/skyformer/lift_factor.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/random/indices.hpp>

#include "support/dense.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using croquis::Key;
using croquis::claims::LiftFactor;

namespace {

constexpr double kLambda = 0.3;

const croquis::Problem<double>& problem() {
  static const croquis::Problem<double> given = croquis::gaussian_input(Key(test_seed()), {.n = 30, .p = 4, .norm = 3});
  return given;
}

arma::mat lift() {
  return croquis::LiftedPoints<double>(problem().Q(), problem().K()).kernel().dense();
}

// ||M - M_J^T (M_JJ)^+ M_J|| for landmarks J, with M stored.
double nystrom_error(const arma::mat& m, const arma::uvec& landmarks) {
  const arma::uvec j = arma::unique(landmarks);
  const arma::mat columns = m.cols(j);
  return arma::norm(m - columns * arma::solve(m(j, j), columns.t(), arma::solve_opts::likely_sympd), 2);
}

}  // namespace

TEST_CASE("LiftFactor: norm and leverage scores are those of the stored matrix") {
  const LiftFactor factor(problem(), Key(test_seed()).child("factor"));
  const arma::mat m = lift();
  CHECK(factor.n() == 30);
  CHECK(factor.points() == 60);
  CHECK(factor.norm() == doctest::Approx(arma::norm(m, 2)).epsilon(1e-10));
  const arma::vec scores = arma::diagvec(m * arma::inv(arma::mat(m + kLambda * arma::eye(60, 60))));
  CHECK(distance(factor.leverage(kLambda), scores) < 1e-9);
  const arma::mat psi = factor.leverage_factor(kLambda, 0);
  CHECK(distance(arma::sum(arma::square(psi), 0).t(), scores) < 1e-9);
  const arma::mat heavy = factor.leverage_factor(kLambda, 0.5);
  CHECK(heavy.n_rows < psi.n_rows);
  CHECK(arma::all(arma::sum(arma::square(heavy), 0).t() - scores <= 1e-9));
}

TEST_CASE("LiftFactor::sufficient: that many landmarks do, and a few percent fewer do not") {
  const LiftFactor factor(problem(), Key(test_seed()).child("factor"));
  const arma::mat m = lift();
  for (const bool queries_only : {false, true}) {
    CAPTURE(queries_only);
    const double lambda = queries_only ? factor.norm() / 2 : kLambda * factor.norm();
    const Key draw_key = Key(test_seed()).child("landmarks");
    const arma::uword most = 4000, d = factor.sufficient(lambda, most, draw_key, queries_only);
    if (d > most) continue;  // queries alone need not do
    const arma::uvec sequence = croquis::sample_with_replacement(queries_only ? 30 : 60, d, draw_key);
    CHECK(nystrom_error(m, sequence) <= lambda * (1 + 1e-9));
    if (d > 1) CHECK(nystrom_error(m, sequence.head(d - 1)) > 0.9 * lambda);
  }
}

TEST_CASE("LiftFactor: a ridge that is not positive, or below what the factor leaves out, is refused") {
  const LiftFactor factor(problem(), Key(test_seed()).child("factor"));
  for (const double lambda : {0.0, -1.0, std::nan("")}) {
    CHECK(contains(refusal([&] { factor.leverage(lambda); }), "lambda > 0"));
    CHECK(contains(refusal([&] { factor.leverage_factor(lambda, 0.1); }), "lambda > 0"));
  }
}
