#include <doctest/doctest.h>
#include <croquis/sketch/sparse_stack.hpp>

#include <cmath>

#include "support/capture.hpp"
#include "support/seed.hpp"
#include "support/sketch_distributions.hpp"
#include "support/sketches.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

Sampler stack(arma::uword n, arma::uword d, arma::uword zeta) {
  return sampler_of([=](const Key& key) { return SparseStack(n, d, zeta, key); });
}

// n = 2, d = 4, zeta = 2: in each row and each block +-1/sqrt(2) at one of two places.
MatrixDistribution law_of_two_by_four() {
  const double a = 1 / std::sqrt(2.0);
  const std::vector<std::pair<arma::rowvec, double>> part = {
      {{a, 0}, 0.25}, {{-a, 0}, 0.25}, {{0, a}, 0.25}, {{0, -a}, 0.25}};
  MatrixDistribution distribution;
  for_products(part, 4, [&](const std::vector<arma::rowvec>& parts, double probability) {
    distribution.add(arma::join_cols(arma::join_rows(parts[0], parts[1]), arma::join_rows(parts[2], parts[3])),
                     probability);
  });
  return distribution;
}

// One key for all blocks.
void repeat_first_block(arma::mat& s, arma::uword zeta) {
  s = arma::repmat(arma::mat(s.head_cols(s.n_cols / zeta)), 1, zeta);
}

}  // namespace

TEST_CASE_TEMPLATE("SparseStack: left, right and expand are products with dense()", T, float, double) {
  const Key key = Key(test_seed()).child("products");
  const arma::uword sizes[][3] = {{1, 1, 1}, {1, 4, 2}, {3, 8, 8}, {5, 5, 1}, {100, 1, 1}, {600, 20, 4}, {1025, 6, 3}};
  for (const auto& [n, d, zeta] : sizes) {
    CAPTURE_BINDING(n);
    check_products<T>(SparseStack(n, d, zeta, key.child(n)), key.child("operands"));
  }
}

TEST_CASE("SparseStack: a row has one entry +-1/sqrt(zeta) in each block") {
  const arma::mat m = SparseStack(1500, 12, 4, Key(test_seed()).child("blocks")).dense<double>();
  for (arma::uword i = 0; i < m.n_rows; ++i) {
    for (arma::uword b = 0; b < 4; ++b) {
      const arma::rowvec part = m.row(i).eval().cols(3 * b, 3 * b + 2);
      REQUIRE(arma::accu(arma::abs(part) == 0.5) == 1);
      REQUIRE(arma::accu(part != 0) == 1);
    }
  }
}

TEST_CASE("SparseStack: E[S S^T] = I in every entry, and mutants are rejected") {
  // Two rows meet in each block with probability zeta/d; off the diagonal as many fair signs over zeta: variance
  // zeta (zeta/d) / zeta^2 = 1/d, size at most 1. On it exactly 1.
  constexpr arma::uword n = 13, d = 6, zeta = 3;
  constexpr std::uint64_t trials = 20000;
  const SecondMoment moment(n, 0, 0, 1.0 / d, 1);
  CHECK(detectable(1.0 / d, 1, 91, trials) < 0.022);
  const auto accepts = [&](const Sampler& sampler) { return second_moment_is_identity(sampler, moment, trials); };
  const Sampler sampler = stack(n, d, zeta);
  CHECK(accepts(sampler));
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(double{zeta}))));      // no 1/sqrt(zeta)
  CHECK_FALSE(accepts(scaled(sampler, 1 / std::sqrt(double{zeta}))));  // 1/zeta
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(double{zeta} / d))));  // 1/sqrt(d)
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& m) { m.row(0).zeros(); })));
}

TEST_CASE("SparseStack: the joint distribution of a 2 x 4 sketch of two blocks, and mutants are rejected") {
  // 256 matrices, 156 draws each, deviation 12.5: half of the distributions with a probability off by 57 % are rejected
  // (7.1 deviations).
  const MatrixDistribution distribution = law_of_two_by_four();
  const auto accepts = [&](const Sampler& sampler) { return distribution.is_distribution_of(sampler, 40000); };
  const Sampler sampler = stack(2, 4, 2);
  CHECK(accepts(sampler));
  CHECK_FALSE(accepts(scaled(sampler, std::sqrt(2.0))));
  CHECK_FALSE(accepts(first_row_without_sign(sampler)));
  CHECK_FALSE(accepts(last_row_without_sign(sampler)));
  CHECK_FALSE(accepts(one_sign_key_for_all_rows(sampler)));
  CHECK_FALSE(accepts(seed_that_does_not_reach_the_draw(sampler)));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& m) { repeat_first_block(m, 2); })));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& m) {  // signs of block 0 in block 1
    for (arma::uword i = 0; i < 2; ++i) {
      const double sign = m(i, 0) + m(i, 1) < 0 ? -1 : 1;
      for (arma::uword j = 2; j < 4; ++j) m(i, j) = sign * std::abs(m(i, j));
    }
  })));
  CHECK_FALSE(accepts(mutant(sampler, [](arma::mat& m) { m.row(1) = m.row(0); })));
}

TEST_CASE("SparseStack: every entry is there with probability zeta/d and fair, and mutants are rejected") {
  // 4,000 keys, 1,333 nonzeros an entry, deviation 30; off by 16 % is seen half of the time (7.2 deviations).
  const double p = 1.0 / 3;
  const Sampler sampler = stack(60, 9, 3);
  CHECK(entries_follow(sampler, p, 4000));
  CHECK_FALSE(entries_follow(first_row_without_sign(sampler), p, 4000));
  CHECK_FALSE(entries_follow(last_row_without_sign(sampler), p, 4000));
  CHECK_FALSE(entries_follow(mutant(sampler,  // the last column of a block is never drawn
                                    [](arma::mat& m) {
                                      m.col(0) += m.col(2);
                                      m.col(2).zeros();
                                    }),
                             p, 4000));
}

TEST_CASE("SparseStack: rows and blocks of a long draw are independent, and mutants are rejected") {
  // 6,000 rows, generated 1,024 at a time. The signs of two blocks agree in half of their 3,000 common rows or so,
  // those of one key for all blocks in all of them.
  const std::vector<arma::uword> lags = {1, 2, 3, 64, 1024};
  const Key key = Key(test_seed()).child("long");
  const Sampler sampler = stack(6000, 6, 3);
  CHECK(long_draw_follows(sampler, key, 0.5, lags));
  CHECK_FALSE(long_draw_follows(one_sign_key_for_all_columns(sampler), key, 0.5, lags));
  CHECK_FALSE(long_draw_follows(mutant(sampler, [](arma::mat& m) { repeat_first_block(m, 3); }), key, 0.5, lags));
  const Sampler periodic = mutant(sampler, [](arma::mat& s) {
    for (arma::uword i = 1024; i < s.n_rows; ++i) s.row(i) = s.row(i % 1024);
  });
  CHECK_FALSE(long_draw_follows(periodic, key, 0.5, lags));
}

TEST_CASE("SparseStack: keys of other names are independent, and mutants are rejected") {
  // Equal pairs: 40,000 / 256 = 156, deviation 12.5. With one block shared 40,000 / 16.
  const MatrixDistribution distribution = law_of_two_by_four();
  const Sampler sampler = stack(2, 4, 2);
  CHECK(distribution.holds_across_keys(sampler, 40000));
  CHECK_FALSE(distribution.holds_across_keys(seed_that_does_not_reach_the_draw(sampler), 40000));
  const Sampler shared_block = [&](const Key& key) {
    arma::mat s = sampler(key);
    s.cols(0, 1) = sampler(Key(test_seed())).eval().cols(0, 1);
    return s;
  };
  CHECK_FALSE(distribution.holds_across_keys(shared_block, 40000));
}

TEST_CASE_TEMPLATE("SparseStack: the same bits for any number of threads", T, float, double) {
  check_thread_counts<T>(SparseStack(5000, 24, 4, Key(test_seed()).child("threads")), Key(test_seed()));
}

TEST_CASE("SparseStack: wrong sizes are refused") {
  CHECK(refusal([] { SparseStack(5, 7, 2, Key(1)); }) ==
        "SparseStack: n >= 1, zeta >= 1, d < 2^32 a positive multiple of zeta, got n = 5, d = 7, zeta = 2");
  CHECK(contains(refusal([] { SparseStack(5, 3, 0, Key(1)); }), "got n = 5, d = 3, zeta = 0"));
  CHECK(contains(refusal([] { SparseStack(0, 3, 1, Key(1)); }), "got n = 0, d = 3, zeta = 1"));
  CHECK(contains(refusal([] { SparseStack(5, 0, 1, Key(1)); }), "got n = 5, d = 0, zeta = 1"));
  check_refusals(SparseStack(5, 4, 2, Key(1)));
}
