#include <croquis/attention/longformer.hpp>

#include "support/approximations.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("longformer: softmax over |i - j| <= w and the global tokens, in every entry", T, float, double) {
  const Key draw_key = Key(test_seed()).child("band");
  for (const arma::uword n : {33U, 40U}) {
    const Problem<T> problem = awkward_problem<T>(n, 6, 3, 3, draw_key);
    const Dense logits = logits_of(problem.Q(), problem.K());
    for (const arma::uword global : {0U, 1U, 4U}) {
      for (const arma::uword d : {9U, 12U, 31U}) {
        const auto w = static_cast<long>((d - 1 - 2 * global) / 2), g = static_cast<long>(global);
        const Dense expected = masked_softmax(logits, [&](arma::uword row, arma::uword column) {
          const auto i = static_cast<long>(row), j = static_cast<long>(column);
          return i < g || j < g || std::labs(i - j) <= w;
        });
        const Approximation<T> approximation = longformer(problem, d, {.global = global});
        check_scores(approximation, problem, expected, entry_error(problem));
        CHECK(row_sum_gap(approximation) <= 2 * static_cast<double>(n) * unit<T>());
        arma::uword visits = 0;
        for (const long double x : expected.entries) visits += x > 0 ? 1 : 0;
        CHECK(visits <= n * d);
      }
    }
  }
}

TEST_CASE_TEMPLATE("longformer: exact for d = n, one token included; the denominators are the part of the row sums met",
                   T, float, double) {
  const Key draw_key = Key(test_seed()).child("exact");
  for (const arma::uword n : {1U, 2U, 17U}) {
    const Problem<T> problem = random_problem<T>(n, 4, 3, 5, draw_key);
    check_scores(longformer(problem, n), problem, scores_of(problem.Q(), problem.K(), Target::softmax),
                 entry_error(problem));
  }
  const Problem<T> problem = random_problem<T>(20, 4, 3, 1, draw_key);
  const Approximation<T> band = longformer(problem, 7);
  const Dense logits = logits_of(problem.Q(), problem.K());
  for (arma::uword i = 1; i < 20; ++i) {
    long double met = std::exp(logits(i, 0));
    for (arma::uword j = 1; j < 20; ++j) met += j + 2 >= i && j <= i + 2 ? std::exp(logits(i, j)) : 0.0L;
    const double found = static_cast<double>(band.denominators->values(i)) *
                         std::exp(static_cast<double>(band.denominators->log_scale(i)));
    CHECK(std::fabs(found / static_cast<double>(met) - 1) <= entry_error(problem));
  }
}

TEST_CASE("longformer: too few keys, d = 0 and d > n are refused; nothing is drawn; norms of 100 are safe") {
  const Problem<float> problem = random_problem<float>(9, 2, 2, 100, Key(1));
  CHECK(longformer(problem, 5).output.is_finite());
  CHECK(refusal([&] { longformer(problem, 10); }) == "longformer: 1 <= d <= n, got d = 10, n = 9");
  CHECK(contains(refusal([&] { longformer(problem, 0); }), "got d = 0"));
  CHECK(contains(refusal([&] { longformer(problem, 2); }), "d >= 1 + 2 global"));
  CHECK(contains(refusal([&] { longformer(problem, 8, {.global = 4}); }), "got d = 8, global = 4"));
  CHECK_FALSE(find_method<float>("longformer").random({}));
}
