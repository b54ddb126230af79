#include <doctest/doctest.h>
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/measure/gradient_errors.hpp>
#include <croquis/random/draws.hpp>

#include <cmath>

#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/relative.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Problem<double> problem_of(bool with_bias) {
  const Key key = Key(81);
  return random_rectangle<double>(
      30, 30, 4, 3, 2, key,
      with_bias ? random_position<double>(30, 1, true, 0.5, key.child("bias"), false) : RelativePosition<double>{});
}

double cosine(const arma::mat& a, const arma::mat& b) {
  return arma::accu(a % b) / std::sqrt(arma::accu(a % a) * arma::accu(b % b));
}

// The numbers of a row, each by its formula from all gradients of its method and d.
void check_row(const GradientRow& row, const Gradient<double>& g, const Gradient<double>& exact,
               const std::vector<Gradient<double>>& all) {
  const auto check = [&](arma::mat Gradient<double>::*part, double rel, double cos, double spread) {
    const double size = arma::norm(exact.*part, "fro");
    CHECK(rel == doctest::Approx(arma::norm(g.*part - exact.*part, "fro") / size));
    if (arma::norm(g.*part, "fro") > 0) {
      CHECK(cos == doctest::Approx(cosine(g.*part, exact.*part)));
    } else {
      CHECK(std::isnan(cos));
    }
    arma::mat sum(arma::size(g.*part), arma::fill::zeros);
    for (const Gradient<double>& other : all) sum += other.*part;
    const auto count = static_cast<double>(all.size());
    const double off = arma::norm(g.*part - sum / count, "fro") / size;
    CHECK(spread == doctest::Approx(all.size() == 1 ? 0 : off * std::sqrt(count / (count - 1))));
  };
  check(&Gradient<double>::q, row.q_rel, row.q_cosine, row.q_spread);
  check(&Gradient<double>::k, row.k_rel, row.k_cosine, row.k_spread);
  check(&Gradient<double>::v, row.v_rel, row.v_cosine, row.v_spread);
  const arma::mat both = arma::join_rows(g.q, g.k), exact_both = arma::join_rows(exact.q, exact.k);
  CHECK(row.qk_rel == doctest::Approx(arma::norm(both - exact_both, "fro") / arma::norm(exact_both, "fro")));
  if (row.method != "v-mean") CHECK(row.qk_cosine == doctest::Approx(cosine(both, exact_both)));
}

}  // namespace

TEST_CASE("gradient errors: errors, cosines and spread of every draw, computed by hand") {
  for (const bool with_bias : {false, true}) {
    const Problem<double> problem = problem_of(with_bias);
    const Key key(5);
    const auto rows =
        gradient_errors(problem, parse_methods(with_bias ? "v-mean,prf-rpe" : "v-mean,skyformer"), {4, 8}, 3, key);
    REQUIRE(rows.size() == 2 + 2 * 3);  // v-mean draws nothing
    arma::mat cotangent(30, 3);
    fill_normal(key.child("cotangent"), 0, cotangent.n_elem, cotangent.memptr());
    for (const GradientRow& row : rows) {
      CAPTURE(row.method);
      const Method<double>& method = find_method<double>(row.method);
      const auto approximate = [&](std::uint64_t trial) {
        const Key draw = key.child("draws").child(row.method).child(row.features).child(trial);
        return prepare(method, problem).approximate(row.features, draw);
      };
      std::vector<Gradient<double>> all;
      for (std::uint64_t t = 1; t <= (row.method == "v-mean" ? 1U : 3U); ++t) {
        all.push_back(approximate(t).adjoint(cotangent));
      }
      const Gradient<double> exact = exact_adjoint(problem, method.target)(cotangent);
      check_row(row, all[row.trial - 1], exact, all);
      const arma::mat output = exact_attention(problem, method.target).output;
      CHECK(row.output_rel ==
            doctest::Approx(arma::norm(approximate(row.trial).output - output, "fro") / arma::norm(output, "fro")));
      CHECK(row.status == "ok");
      CHECK(row.target == name_of(method.target));
      if (row.method == "prf-rpe") {
        const Gradient<double>& g = all[row.trial - 1];
        CHECK(row.bias_rel == doctest::Approx(arma::norm(g.bias - exact.bias) / arma::norm(exact.bias)));
      } else {
        CHECK(std::isnan(row.bias_rel));
      }
    }
  }
}

TEST_CASE("gradient errors: none where a method is exact; one draw has no spread; failures are rows") {
  const Problem<double> problem = problem_of(false);
  const auto exact = gradient_errors(problem, parse_methods("skeinformer"), {30}, 2, Key(6));
  for (const GradientRow& row : exact) {
    CHECK(row.qk_rel <= 1e-10);
    CHECK(row.v_rel <= 1e-10);
    CHECK(row.qk_cosine == doctest::Approx(1));
  }
  CHECK(std::isnan(gradient_errors(problem, parse_methods("skyformer"), {8}, 1, Key(6)).front().qk_spread));
  const auto failed = gradient_errors(problem, parse_methods("performer:map=trf"), {7}, 2, Key(6));
  REQUIRE(failed.size() == 2);
  CHECK(contains(failed.front().status, "even d"));
  CHECK(std::isnan(failed.front().output_rel));
}

TEST_CASE("gradient errors: a method without an adjoint is refused") {
  const std::string message =
      refusal([&] { gradient_errors(problem_of(false), parse_methods("reformer"), {8}, 1, Key(7)); });
  CHECK(contains(message, "reformer: has no adjoint"));
}

// By loops in extended precision. Sums of n terms in double are within n u of those of absolute values; by
// Cauchy-Schwarz the inner product and the two roots move the cosine by 2n u at most.
TEST_CASE("gradient errors: cosines of more entries than BLAS sums on one thread") {
  const Key key(83);
  const Problem<double> problem = random_rectangle<double>(320, 320, 32, 32, 2, key, {});
  const auto rows = gradient_errors(problem, parse_methods("skeinformer"), {16}, 1, key);
  REQUIRE(rows.size() == 1);
  arma::mat cotangent(320, 32);
  fill_normal(key.child("cotangent"), 0, cotangent.n_elem, cotangent.memptr());
  const Method<double>& method = find_method<double>("skeinformer");
  const Key draw = key.child("draws").child("skeinformer").child(16).child(1);
  const Gradient<double> g = prepare(method, problem).approximate(16, draw).adjoint(cotangent);
  const Gradient<double> exact = exact_adjoint(problem, method.target)(cotangent);
  const auto check = [](const arma::mat& a, const arma::mat& b, double cosine) {
    long double inner = 0, a_square = 0, b_square = 0;
    for (arma::uword e = 0; e < a.n_elem; ++e) {
      inner += static_cast<long double>(a[e]) * b[e];
      a_square += static_cast<long double>(a[e]) * a[e];
      b_square += static_cast<long double>(b[e]) * b[e];
    }
    const double u = arma::datum::eps / 2, n = static_cast<double>(a.n_elem);
    REQUIRE(n > 10000);
    CHECK(std::abs(cosine - static_cast<double>(inner / std::sqrt(a_square * b_square))) <= (2 * n + 10) * u);
  };
  check(g.q, exact.q, rows[0].q_cosine);
  check(g.k, exact.k, rows[0].k_cosine);
  check(g.v, exact.v, rows[0].v_cosine);
}
