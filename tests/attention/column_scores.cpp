#include <doctest/doctest.h>
#include <croquis/attention/column_adjoint.hpp>
#include <croquis/attention/column_scores.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/sampling/column_norms.hpp>

#include <cmath>

#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE(
    "importance columns: long queries and keys, whose scores are rounded apart from those summed, and large weights") {
  const arma::uword n = 60, d = 8;
  const Key key(test_seed());
  const arma::fmat q = 1e8F * random_matrix<float>(n, 8, key.child("q")),
                   k = random_matrix<float>(n, 8, key.child("k"));
  arma::fmat logits = scores_transposed<float>(q, k);
  RowSums<float> row_sums{arma::fvec(n), arma::fvec(n)};
  for (arma::uword i = 0; i < n; ++i) {
    row_sums.maxima(i) = logits.col(i).max();
    row_sums.sums(i) = arma::accu(arma::exp(logits.col(i) - row_sums.maxima(i)));
  }
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    const auto scores =
        importance_columns<float>(q, k, row_sums, arma::fvec(n, arma::fill::value(1e38F)), d, key.child(draw));
    // 0 <= b <= 1, over d times the probability 1 / n.
    REQUIRE(scores.weights.min() >= 0);
    REQUIRE(scores.weights.max() <= float(n) / float(d) * 1.001F);
  }
}

// Two equal keys share a row, and the logarithm of 2 is lost beside their score. Scores of p = 1 are exact.
TEST_CASE_TEMPLATE("sampled columns: equal keys share a row and its gradient, however large their scores", T, float,
                   double) {
  const arma::uword n = 70;
  const arma::Mat<T> v = random_matrix<T>(4, 3, Key(test_seed()).child("v")),
                     cotangent = random_matrix<T>(n, 3, Key(test_seed()).child("cotangent"));
  for (const int power : {4, 12, 50, 100}) {
    CAPTURE(power);
    const T score = std::ldexp(T(1), power);
    const arma::Mat<T> q(n, 1, arma::fill::value(std::ldexp(T(1), power / 2))),
        k = arma::Col<T>{1, -100, -200, 1} * (score / q(0));
    const ColumnNorms<T> exact = column_norms(q, k);
    CHECK(distance(arma::square(exact.norms).eval(), arma::Col<T>{T(n) / 4, 0, 0, T(n) / 4}) <= n * n * unit<T>());
    // Four columns of probability 1/4: their factors are 1.
    const auto scores = importance_columns<T>(q, k, exact.row_sums, arma::Col<T>(4, arma::fill::ones), 4,
                                              Key(test_seed()).child(power));
    for (arma::uword c = 0; c < 4; ++c) {
      const T weight = scores.columns(c) % 3 == 0 ? T(0.5) : T(0);
      CHECK(arma::all(scores.weights.row(c) == weight));
    }
    const Gradient<T> gradient =
        sampled_columns_gradient(Problem<T>(q, k, v), {.columns = {0, 2, 3}, .row_sums = exact.row_sums}, cotangent);
    const arma::Row<T> half = arma::sum(cotangent, 0) / T(2);
    const double rounding = static_cast<double>(n) * unit<T>() * static_cast<double>(arma::norm(cotangent, "fro"));
    for (const arma::uword equal : {0, 3}) CHECK(distance(gradient.v.row(equal).eval(), half) <= rounding);
    CHECK(arma::all(arma::vectorise(gradient.v.rows(1, 2)) == T(0)));
  }
}

TEST_CASE("column scores: sizes that do not agree are refused") {
  ColumnScores<double> scores;
  scores.n_k = 5;
  scores.columns = {0, 4};
  scores.weights.ones(2, 3);
  CHECK(as_operator(scores).rows == 3);
  CHECK(contains(refusal([&] { as_operator(scores).apply(arma::mat(6, 1)); }), "rows = 6, wanted = 5"));
  CHECK(contains(refusal([&] { as_operator(scores).apply_transposed(arma::mat(4, 1)); }), "rows = 4, wanted = 3"));
  scores.rows = {7};
  scores.row_scores.ones(5, 1);
  CHECK(contains(refusal([&] { as_operator(scores); }), "ColumnScores: sizes that agree"));
  scores.rows = {2};
  CHECK(as_operator(scores).cols == 5);
  scores.row_scores.ones(4, 1);
  CHECK(contains(refusal([&] { as_operator(scores); }), "ColumnScores: sizes that agree"));
}

TEST_CASE("importance_columns and sampled_columns_gradient: what does not fit the problem is refused") {
  const arma::mat q = random_matrix<double>(4, 3, Key(test_seed()).child("q")),
                  k = random_matrix<double>(5, 3, Key(test_seed()).child("k"));
  const arma::vec sums(4, arma::fill::ones), weights(5, arma::fill::ones);
  const auto columns = [&](const arma::vec& row_sums, const arma::vec& of_keys) {
    return refusal([&] { importance_columns(q, k, {sums, row_sums}, of_keys, 2, Key(1)); });
  };
  CHECK(columns(sums, weights) == "nothing was thrown");
  CHECK(contains(columns(sums, weights.head(4)), "importance_columns: a weight for each key"));
  CHECK(contains(columns(sums.head(3), weights), "importance_columns: a weight for each key"));

  const Problem<double> problem(q, k, random_matrix<double>(5, 2, Key(test_seed()).child("v")));
  const auto gradient = [&](const SampledColumns<double>& sampled, arma::uword rows = 4, arma::uword cols = 2) {
    return refusal([&] { sampled_columns_gradient(problem, sampled, arma::mat(rows, cols, arma::fill::ones)); });
  };
  CHECK(gradient({.columns = {4}, .row_sums = {sums, sums}, .pilot = {3}, .known = {3}}) == "nothing was thrown");
  const std::string indices = "sampled_columns_gradient: columns below n_k",
                    sizes = "sampled_columns_gradient: a row sum";
  CHECK(contains(gradient({.columns = {5}, .row_sums = {sums, sums}}), indices));
  CHECK(contains(gradient({.columns = {4}, .row_sums = {sums, sums}, .pilot = {4}}), indices));
  CHECK(contains(gradient({.columns = {4}, .row_sums = {sums, sums}, .known = {4}}), indices));
  CHECK(contains(gradient({.columns = {4}, .row_sums = {sums, sums.head(3)}}), sizes));
  CHECK(contains(gradient({.columns = {4}, .row_sums = {sums, sums}}, 3), sizes));
  CHECK(contains(gradient({.columns = {4}, .row_sums = {sums, sums}}, 4, 3), sizes));
}
