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

Problem<double> with_values(const Problem<double>& problem, const arma::mat& v) {
  return {problem.Q(), problem.K(), v, {}, problem.position()};
}

// Tokens of which each attends to itself alone, up to weights of exp(-r^2 / sqrt(8)).
Problem<double> apart(double r, const Key& key) {
  const arma::mat points = r * arma::mat(8, 8, arma::fill::eye);
  return {points, points, random_matrix(8, 3, key)};
}

bool none(double rel, double cosine, double spread) {
  return std::isnan(rel) && std::isnan(cosine) && std::isnan(spread);
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

TEST_CASE("gradient errors: of derivatives whose squares vanish or overflow they are those of larger or smaller ones") {
  for (const bool with_bias : {false, true}) {
    const Problem<double> problem = problem_of(with_bias);
    const auto methods = parse_methods(with_bias ? "v-mean,prf-rpe" : "linformer,skyformer");
    const auto rows = gradient_errors(problem, methods, {4}, 3, Key(5));
    for (const int power : {-560, 500}) {
      const Problem<double> scaled = with_values(problem, std::ldexp(1.0, power) * problem.V());
      const auto others = gradient_errors(scaled, methods, {4}, 3, Key(5));
      REQUIRE(others.size() == rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        CAPTURE(rows[i].method);
        CHECK(others[i].status == "ok");
        for (double GradientRow::*number :
             {&GradientRow::output_rel, &GradientRow::qk_rel, &GradientRow::qk_cosine, &GradientRow::qk_spread,
              &GradientRow::v_rel, &GradientRow::v_cosine, &GradientRow::v_spread, &GradientRow::bias_rel}) {
          const double one = rows[i].*number, other = others[i].*number;
          CHECK(std::isnan(one) == std::isnan(other));
          if (!std::isnan(one)) CHECK(other == doctest::Approx(one));
        }
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
  CHECK(contains(message, "reformer: has no adjoint; methods that have one are"));
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

TEST_CASE("gradient errors: derivatives that are rounding alone are compared with nothing") {
  const auto rows_of = [](const Problem<double>& problem, const char* methods) {
    return gradient_errors(problem, parse_methods(methods), {8}, 2, Key(8));
  };
  const Problem<double> plain = problem_of(false), biased = problem_of(true);
  const arma::mat equal = arma::repmat(random_matrix(1, 3, Key(9)), 30, 1);
  const auto check_none = [](const std::vector<GradientRow>& rows) {
    for (const GradientRow& row : rows) {
      CAPTURE(row.method);
      CHECK(row.status == "ok");
      CHECK(std::isfinite(row.output_rel));
      CHECK(none(row.qk_rel, row.qk_cosine, row.qk_spread));
      CHECK(none(row.q_rel, row.q_cosine, row.q_spread));
      CHECK(none(row.k_rel, row.k_cosine, row.k_spread));
      CHECK(none(row.bias_rel, row.bias_cosine, row.bias_spread));
      CHECK(std::isfinite(row.v_rel));
    }
  };
  check_none(rows_of(with_values(plain, equal), "performer,skeinformer,nprf,v-mean"));
  check_none(rows_of(with_values(biased, equal), "prf-rpe,nprf-rpe"));
  check_none(rows_of(apart(20, Key(10)), "performer,skeinformer"));
  // Of tokens that are far apart, each four times: exp(-r^2 / sqrt(8)) is 0.
  const Problem<double> few = apart(60, Key(10));
  const arma::mat tokens = arma::repmat(few.Q() + 1, 4, 1);
  check_none(rows_of({tokens, tokens, random_matrix(32, 3, Key(12))}, "skyformer,skyformer:preset=code"));
  for (const GradientRow& row : rows_of(apart(5, Key(10)), "performer,skeinformer")) {
    CHECK(std::isfinite(row.qk_rel));
    CHECK(std::isfinite(row.q_rel));
    CHECK(std::isfinite(row.k_rel));
  }
  // Of equal keys dQ alone is 0.
  const arma::mat key = arma::repmat(random_matrix(1, 4, Key(11)), 30, 1);
  for (const GradientRow& row : rows_of({plain.Q(), key, plain.V()}, "performer,nprf")) {
    CHECK(none(row.q_rel, row.q_cosine, row.q_spread));
    CHECK(std::isfinite(row.k_rel));
    CHECK(std::isfinite(row.qk_rel));
  }
  // Tokens that the bias hides, however far below it has them, take nothing from the others.
  RelativePosition<double> masked = biased.position();
  masked.bias.head(10).fill(-std::numeric_limits<double>::infinity());
  masked.bias.tail(10).fill(-1e300);
  for (const GradientRow& row : rows_of({biased.Q(), biased.K(), biased.V(), {}, masked}, "nprf-rpe:product=direct")) {
    CHECK(row.status == "ok");
    CHECK(std::isfinite(row.qk_rel));
    CHECK(std::isfinite(row.bias_rel));
  }
}

// The weights of a single key are 1, and those of a single feature do not depend on the query.
TEST_CASE_TEMPLATE("gradient errors: a method whose derivatives are rounding alone has an error of 1 and no cosine", T,
                   float, double) {
  const Key key(84);
  const Problem<T> problem = random_rectangle<T>(320, 320, 32, 5, 2, key, {});
  const auto rows_of = [&](const char* methods, arma::uword d) {
    return gradient_errors(problem, parse_methods(methods), {d}, 3, key);
  };
  const char* const of_one_key = "linformer,skeinformer-no-reuse,thinformer,balancekv";
  const auto vanishing = [](double rel, double cos) {
    CHECK(rel == doctest::Approx(1));
    CHECK(std::isnan(cos));
  };
  for (const GradientRow& row : rows_of(of_one_key, 1)) {
    CAPTURE(row.method);
    vanishing(row.qk_rel, row.qk_cosine);
    vanishing(row.q_rel, row.q_cosine);
    vanishing(row.k_rel, row.k_cosine);
    CHECK(std::isfinite(row.v_cosine));
  }
  for (const GradientRow& row : rows_of("performer,nprf", 1)) {
    CAPTURE(row.method);
    vanishing(row.q_rel, row.q_cosine);
    CHECK(std::isfinite(row.k_cosine));
    CHECK(std::isfinite(row.qk_cosine));
  }
  // Of rows this long the bound in float is above the derivatives themselves.
  const Problem<T> longer = random_rectangle<T>(320, 320, 32, 5, 12, key, {});
  for (const GradientRow& row : gradient_errors(longer, parse_methods("thinformer,skeinformer"), {64}, 3, key)) {
    CAPTURE(row.method);
    for (const double cos : {row.qk_cosine, row.q_cosine, row.k_cosine, row.v_cosine}) CHECK(std::isfinite(cos));
  }
}

TEST_CASE("gradient errors: a draw whose gradient is not finite has no part in the spread of the others") {
  // One direction: the sums of rows are 1 + cos(2 w c), and derivatives by keys of this length overflow for a small
  // one.
  const float c = 1e18F;
  const arma::fmat points = arma::fvec{c, -c}, v = arma::fvec{c, -c / 2};
  const Problem<float> problem{points, points, v};
  const Key key(12);
  const auto rows = gradient_errors(problem, parse_methods("performer:map=trf"), {2}, 200, key);
  const arma::fmat cotangent = random_matrix<float>(2, 1, key.child("cotangent"));
  // About one draw in six fails: that none of 200 does has a probability below 1e-14.
  std::vector<GradientRow> kept;
  std::vector<arma::mat> gradients;
  for (const GradientRow& row : rows) {
    if (row.status != "ok") {
      CHECK(contains(row.status, "not finite: dK"));
      CHECK(std::isnan(row.v_rel));
      continue;
    }
    const Key draw = key.child("draws").child("performer").child(2).child(row.trial);
    const Approximation<float> approximation =
        prepare(find_method<float>("performer"), problem, parse_methods("performer:map=trf").front().options)
            .approximate(2, draw);
    kept.push_back(row);
    gradients.push_back(arma::conv_to<arma::mat>::from(approximation.adjoint(cotangent).v));
  }
  REQUIRE(kept.size() > 1);
  REQUIRE(kept.size() < rows.size());
  arma::mat sum(2, 1, arma::fill::zeros);
  for (const arma::mat& g : gradients) sum += g;
  // Each query attends to its own key alone: dV is the cotangent.
  const double size = arma::norm(arma::conv_to<arma::mat>::from(cotangent), "fro");
  const auto count = static_cast<double>(kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double off = arma::norm(gradients[i] - sum / count, "fro") / size;
    CHECK(kept[i].v_spread == doctest::Approx(off * std::sqrt(count / (count - 1))));
  }
}
