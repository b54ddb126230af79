#include <doctest/doctest.h>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/nystrom/nested.hpp>
#include <croquis/random/indices.hpp>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

arma::mat by_pseudo_inverse(const LiftedPoints<double>& lift, const arma::uvec& landmarks) {
  const NystromBlocks<double> blocks = nystrom_blocks(lift, landmarks);
  const auto inverse = pseudo_inverse_psd(blocks.core, core_cutoff(lift, landmarks.n_elem));
  return blocks.left * inverse.apply(arma::mat(blocks.right.t()));
}

}  // namespace

TEST_CASE("NestedNystrom: C~_d of every d is that of the first d landmarks by the pseudo-inverse") {
  const Key draw_key = Key(test_seed()).child("nested");
  for (const double norm : {2.0, 6.0}) {
    CAPTURE(norm);
    const Problem<double> problem = random_problem<double>(90, 12, 1, norm, draw_key);
    const LiftedPoints<double> lift(problem.Q(), problem.K());
    const arma::uvec landmarks = sample_with_replacement(180, 180, draw_key.child("landmarks"));  // some come twice
    NestedNystrom nested(lift, landmarks, core_cutoff(lift, 180));
    // Both leave out directions of the core below 180 u (1 + max ||x||^2) < 1e-12, or are off by rounding of that size,
    // which costs up to the square root: 1e-6. Asked for out of order, and across blocks of 64.
    for (const arma::uword d : {70, 1, 5, 64, 65, 128, 129, 180, 20}) {
      CAPTURE(d);
      CHECK(distance(nested.scores(d).dense(), Dense(by_pseudo_inverse(lift, landmarks.head(d)))) <= 2e-6);
      const arma::mat x = random_matrix(90, 2, draw_key.child("x"));
      CHECK(distance(nested.scores(d).apply_transposed(x), Dense(nested.scores(d).dense().t() * x)) <= 1e-10);
      CHECK(nested.rank(d) <= d);
    }
    CHECK(nested.rank(180) == arma::unique(landmarks).eval().n_elem);  // a repeated landmark adds nothing
  }
}

TEST_CASE("NestedNystrom: the numbers do not depend on the order of the questions; d = 0 is zero") {
  const Key draw_key = Key(test_seed()).child("order");
  const Problem<double> problem = random_problem<double>(50, 5, 1, 3, draw_key);
  const LiftedPoints<double> lift(problem.Q(), problem.K());
  const arma::uvec landmarks = sample_with_replacement(100, 100, draw_key);
  NestedNystrom rising(lift, landmarks, 1e-12), once(lift, landmarks, 1e-12);
  for (const arma::uword d : {1, 2, 30, 90}) rising.rank(d);
  CHECK(identical(rising.scores(90).dense(), once.scores(90).dense()));
  CHECK(once.scores(0).dense().is_zero());
  CHECK(once.rank(0) == 0);
}

TEST_CASE("NestedNystrom: all points as landmarks give C back") {
  const Key draw_key = Key(test_seed()).child("all");
  const Problem<double> problem = random_problem<double>(40, 8, 1, 5, draw_key);
  const LiftedPoints<double> lift(problem.Q(), problem.K());
  NestedNystrom nested(lift, sample_without_replacement(80, 80, draw_key), core_cutoff(lift, 80));
  const arma::mat lifted = lift.kernel().dense();
  CHECK(distance(nested.scores(80).dense(), Dense(arma::mat(lifted.submat(0, 40, 39, 79)))) <= 1e-6);
}

TEST_CASE("NestedNystrom: scores outlive the object that made them, and the lift that it was made of") {
  const Key draw_key = Key(test_seed()).child("outlive");
  const arma::mat q = random_matrix<double>(30, 3, draw_key.child("q")),
                  k = random_matrix<double>(30, 3, draw_key.child("k"));
  const arma::uvec landmarks = sample_without_replacement(60, 20, draw_key);
  const auto returned = [&] {
    const LiftedPoints<double> lift(q, k);
    NestedNystrom nested(lift, landmarks, 1e-12);
    return nested.scores(20);
  }();
  const LiftedPoints<double> lift(q, k);
  NestedNystrom nested(lift, landmarks, 1e-12);
  const LinearOperator<double> few = nested.scores(3);
  const arma::mat before = few.dense();
  CHECK(identical(returned.dense(), nested.scores(20).dense()));
  CHECK(identical(few.dense(), before));  // more landmarks change nothing of the first
}

TEST_CASE("NestedNystrom: refusals") {
  const Problem<double> problem = random_problem<double>(5, 2, 1, 1, Key(1));
  const LiftedPoints<double> lift(problem.Q(), problem.K());
  CHECK(contains(refusal([&] { NestedNystrom(lift, {10}, 1e-9); }), "landmarks below n_q + n_k"));
  CHECK(contains(refusal([&] { NestedNystrom(lift, {1}, 0); }), "0 < cutoff < 1"));
  NestedNystrom two(lift, {1, 2}, 1e-9);
  CHECK(contains(refusal([&] { two.rank(3); }), "at most the number of landmarks"));
}
