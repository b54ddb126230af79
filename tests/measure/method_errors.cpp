#include <doctest/doctest.h>
#include <croquis/attention/exact.hpp>
#include <croquis/measure/method_errors.hpp>

#include <algorithm>
#include <cmath>

#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

Problem<double> problem_of(arma::uword n) {
  const Key key = Key(test_seed()).child("method errors");
  return {random_matrix<double>(n, 4, key.child("q")), random_matrix<double>(n, 4, key.child("k")),
          random_matrix<double>(n, 3, key.child("v"))};
}

}  // namespace

TEST_CASE("method errors: a row is the error of that draw, computed by hand") {
  const Problem<double> problem = problem_of(30);
  const Key key(5);
  const auto rows = method_errors(problem, parse_methods("v-mean,linformer"), {4, 8}, 3, key);
  REQUIRE(rows.size() == 2 + 2 * 3);  // v-mean draws nothing
  const arma::mat exact = exact_attention(problem, Target::softmax).output;
  for (const ErrorRow& row : rows) {
    const Method<double>& method = find_method<double>(row.method);
    const arma::mat output =
        prepare(method, problem)
            .approximate(row.features, key.child("draws").child(row.method).child(row.features).child(row.trial))
            .output;
    const arma::mat difference = exact - output;
    CHECK(row.status == "ok");
    CHECK(row.frobenius_abs == doctest::Approx(std::sqrt(arma::accu(difference % difference))));
    CHECK(row.spectral_rel == doctest::Approx(arma::svd(difference).max() / arma::svd(exact).max()));
    CHECK(row.max_abs == doctest::Approx(arma::abs(difference).max()));
    CHECK(row.n == 30);
    CHECK(row.target == "softmax");
  }
}

TEST_CASE("method errors: what fails is a status, and a row that fails has no errors") {
  const auto rows = method_errors(problem_of(30), parse_methods("skyformer,v-mean"), {61}, 1, Key(1));
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].status == "ok");
  const auto quadratic =
      method_errors(problem_of(30), parse_methods("best-rank-d"), {4}, 1, Key(1), {.rows = 20, .scores = false});
  CHECK(quadratic[0].status.find("O(n^2)") != std::string::npos);
  CHECK(std::isnan(quadratic[0].spectral_abs));
}
