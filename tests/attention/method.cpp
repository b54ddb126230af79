#include <doctest/doctest.h>
#include <croquis/attention/bfloat16.hpp>
#include <croquis/attention/clustered.hpp>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/hyperattention.hpp>
#include <croquis/attention/informer.hpp>
#include <croquis/attention/longformer.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/attention/mra_2.hpp>
#include <croquis/attention/reformer.hpp>
#include <croquis/attention/thinformer.hpp>

#include <cmath>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("from_scores: the output is the product with the values, and the scores stay", T, float, double) {
  const Problem<T> problem = random_problem<T>(6, 2, 3, 1, Key(test_seed()));
  const arma::Mat<T> b = random_matrix<T>(6, 6, Key(test_seed()).child("b"));
  const Approximation<T> approximation = from_scores(as_operator(b), problem);
  CHECK(identical(approximation.output, arma::Mat<T>(b * problem.V())));
  CHECK(identical(approximation.scores->dense(), b));
  CHECK_FALSE(approximation.denominators.has_value());
  CHECK(std::isnan(approximation.diagnostics.residual));
}

TEST_CASE_TEMPLATE("prepare: scores of every method refuse a matrix with another number of rows", T, float, double) {
  const Problem<T> problem = random_problem<T>(12, 4, 3, 1, Key(test_seed()));
  for (const Method<T>& method : methods<T>()) {
    CAPTURE(method.name);
    const Approximation<T> approximation = prepare(method, problem, {}).approximate(10, Key(1));
    if (!approximation.scores) continue;
    for (const arma::uword rows : {0U, 11U, 13U}) {
      const arma::Mat<T> x(rows, 2, arma::fill::ones);
      CHECK(contains(refusal([&] { approximation.scores->apply(x); }), method.name + ": an X with"));
      CHECK(contains(refusal([&] { approximation.scores->apply_transposed(x); }), method.name + ": an X with"));
    }
  }
}

TEST_CASE_TEMPLATE("methods as functions: their scores refuse a matrix with another number of rows too", T, float,
                   double) {
  const Key key(1);
  const Problem<T> problem = random_rectangle<T>(100, 100, 8, 3, 2, key);
  const LinearOperator<T> operators[] = {exact_scores(problem, Target::softmax),
                                         exact_scores(problem, Target::kernelized),
                                         *bfloat16(problem).scores,
                                         *longformer(problem, 16).scores,
                                         *reformer(problem, 16, key).scores,
                                         *hyperattention(problem, 16, key).scores,
                                         *thinformer(problem, 16, key).scores,
                                         *mra_2(problem, 64).scores,
                                         *informer(problem, 16, key).scores,
                                         *clustered(problem, 16, key).scores};
  for (const LinearOperator<T>& scores : operators) {
    for (const arma::uword rows : {0U, 99U, 101U}) {
      const arma::Mat<T> x(rows, 2, arma::fill::ones);
      CHECK(contains(refusal([&] { scores.apply(x); }), "wanted = 100"));
      CHECK(contains(refusal([&] { scores.apply_transposed(x); }), "wanted = 100"));
    }
  }
}
