#include <croquis/attention/bigbird.hpp>

#include "support/approximations.hpp"
#include "support/statistics.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

// Which keys a query meets, by the entries that are not zero: norms are small enough that no weight underflows.
std::vector<std::vector<bool>> met_of(const Dense& b) {
  std::vector<std::vector<bool>> met(b.rows, std::vector<bool>(b.cols));
  for (arma::uword i = 0; i < b.rows; ++i) {
    for (arma::uword j = 0; j < b.cols; ++j) met[i][j] = b(i, j) != 0;
  }
  return met;
}

struct Size {
  arma::uword n, d, block, global, window, random;  // random: what the budget leaves
};

}  // namespace

TEST_CASE_TEMPLATE("bigbird: global, window and r random whole blocks, softmax over them in every entry", T, float,
                   double) {
  const Key draw_key = Key(test_seed()).child("blocks");
  const Size sizes[] = {{60, 30, 3, 2, 3, 3}, {62, 30, 3, 2, 3, 3}, {61, 8, 1, 2, 3, 1},
                        {50, 16, 1, 2, 3, 9}, {47, 20, 2, 0, 5, 5}, {64, 40, 4, 3, 1, 3}};
  for (const auto& [n, d, block, global, window, random] : sizes) {
    const Problem<T> problem = awkward_problem<T>(n, 6, 3, 2, draw_key);
    const BigBirdOptions options = {.block = block, .global = global, .window = window};
    const Approximation<T> approximation = bigbird(problem, d, draw_key.child(n), options);
    const std::vector<std::vector<bool>> met = met_of(approximation.scores->dense());
    const arma::uword m = (n + block - 1) / block, first = (global + 1) / 2, last = global / 2;
    arma::uword visits = 0;
    for (arma::uword i = 0; i < n; ++i) {
      const arma::uword t = i / block;
      arma::uword more = 0, others = 0;
      for (arma::uword s = 0; s < m; ++s) {
        const auto in = [&](arma::uword j) { return met[i][j]; };
        const arma::uword start = s * block, end = std::min(n, start + block);
        for (arma::uword j = start; j < end; ++j) {
          CHECK(in(j) == in(start));  // whole blocks
          visits += in(j) ? 1 : 0;
        }
        const bool always =
            t < first || t + last >= m || s < first || s + last >= m || (s + window / 2 >= t && s <= t + window / 2);
        if (always) CHECK(in(start));
        if (!always) ++others;
        if (!always && in(start)) ++more;
        CHECK(met[i][start] == met[t * block][start]);  // the queries of a block meet the same keys
      }
      CHECK(more == std::min(others, random));
    }
    CHECK(visits <= n * d);
    const Dense expected =
        masked_softmax(logits_of(problem.Q(), problem.K()), [&](arma::uword i, arma::uword j) { return met[i][j]; });
    check_scores(approximation, problem, expected, entry_error(problem));
    CHECK(row_sum_gap(approximation) <= 2 * static_cast<double>(n) * unit<T>());
  }
}

TEST_CASE("bigbird: random blocks are uniform among the others, and apart from row to row; mutants are rejected") {
  // 12 blocks of one token, g = 2, w = 3: the query of block 5 has 12 - 2 - 3 = 7 others, one of which it meets.
  const ThreadCount one(1);  // many small problems
  const Problem<double> problem = random_problem<double>(12, 3, 2, 1, Key(1));
  const Key root = Key(test_seed()).child("uniform");
  std::vector<double> counts(7), pairs(49);
  const std::vector<arma::uword> others5 = {1, 2, 3, 7, 8, 9, 10}, others6 = {1, 2, 3, 4, 8, 9, 10};
  for (std::uint64_t t = 0; t < 20000; ++t) {
    const Dense b = bigbird(problem, 8, root.child(t)).scores->dense();
    std::size_t five = 7, six = 7;
    for (std::size_t c = 0; c < 7; ++c) {
      if (b(5, others5[c]) != 0) five = c;
      if (b(6, others6[c]) != 0) six = c;
    }
    REQUIRE(five < 7);
    REQUIRE(six < 7);
    ++counts[five];
    ++pairs[7 * five + six];
  }
  CHECK(counts_follow(counts, std::vector<double>(7, 1.0 / 7), 1e-9));
  CHECK(counts_follow(pairs, std::vector<double>(49, 1.0 / 49), 1e-9));
  // A mutant that draws among the first 6 alone has no count of 2,857 in the last cell, 53 deviations off.
  counts[0] += counts[6];
  counts[6] = 0;
  CHECK_FALSE(counts_follow(counts, std::vector<double>(7, 1.0 / 7), 1e-9));
}

TEST_CASE_TEMPLATE("bigbird: exact for d = n, one token included", T, float, double) {
  for (const arma::uword n : {1U, 2U, 23U}) {
    const Problem<T> problem = random_problem<T>(n, 4, 3, 5, Key(test_seed()).child(n));
    check_scores(bigbird(problem, n, Key(1)), problem, scores_of(problem.Q(), problem.K(), Target::softmax),
                 entry_error(problem));
  }
}

TEST_CASE("bigbird: a budget that is too small, an even window, d = 0 and d > n are refused") {
  const Problem<float> problem = random_problem<float>(30, 2, 2, 100, Key(1));
  CHECK(bigbird(problem, 9, Key(1)).output.is_finite());
  CHECK(refusal([&] { bigbird(problem, 31, Key(1)); }) == "bigbird: 1 <= d <= n, got d = 31, n = 30");
  CHECK(contains(refusal([&] { bigbird(problem, 0, Key(1)); }), "got d = 0"));
  CHECK(contains(refusal([&] { bigbird(problem, 6, Key(1)); }), "block (2 global + window) <= d"));
  CHECK(contains(refusal([&] { bigbird(problem, 20, Key(1), {.block = 3}); }), "got block = 3"));
  CHECK(contains(refusal([&] { bigbird(problem, 20, Key(1), {.window = 2}); }), "window odd"));
  CHECK(contains(refusal([&] { method_on(problem, "bigbird", {{"window", "4"}}); }), "window odd"));
}
