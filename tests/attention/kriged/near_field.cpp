// Offsets of the keys that matter, and keys that are not left to the cells.
#include <croquis/attention/exact.hpp>
#include <croquis/attention/kriged/near_field.hpp>
#include <croquis/attention/kriged/query_rows.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

#include "attention/kriged/cases.hpp"

using namespace croquis;

TEST_CASE("kriged coreset: the offset of a key that is listed for all queries counts nothing") {
  const arma::uword n = 50;
  const Problem<double> problem = rectangle(n, n, "listed");
  const KrigedInput<double> input(problem);
  const arma::vec equal(n, arma::fill::ones);
  const PointTree tree = split_points(input.keys.columns, equal, 6, SplitDirection::random, Key(1));
  const KeyCells<double> cells = make_cells(input, equal, tree);
  const std::vector<arma::uword> queries = {31, 12};
  const ExactRows<double> rows = exact_rows_of(input, arma::mat(problem.Q().rows(arma::uvec(queries))), {});
  const arma::mat weights = cell_weights(input, rows, cells);
  // Without the window's sums over neighbours an offset would have one key of each query. Keys 20, ..., 49 are listed:
  // only offsets of queries 31 and 12 to the first 20 keys are left, smoothed over 7 neighbours.
  std::vector<std::uint32_t> listed(30), all(n);
  std::iota(listed.begin(), listed.end(), 20U);
  std::iota(all.begin(), all.end(), 0U);
  const auto scores = [&](const std::vector<std::uint32_t>& of) {
    std::vector<double> sums(2 * n - 1, 0.0);
    for (arma::uword r = 0; r < 2; ++r) {
      const auto own = offset_scores(problem.tokens(), queries[r], near_scores(input, rows, r, cells, weights), of);
      std::transform(sums.begin(), sums.end(), own.begin(), sums.begin(), std::plus());
    }
    return sums;
  };
  for (const double score : scores(all)) CHECK(score == 0);
  const std::vector<double> some = scores(listed);
  for (std::size_t o = 0; o < some.size(); ++o) {
    CAPTURE(o);
    const auto offset = static_cast<std::int64_t>(o) - 49;
    const bool may = offset <= 19 - 12 + 7;  // the last key that is not listed, from the query that is nearer to it
    CHECK((may || some[o] <= 1e-12));
  }
  CHECK(some[49 - 25] > 0);
}

TEST_CASE_TEMPLATE("kriged coreset: keys that a query attends to one by one count no more in their cells", T, float,
                   double) {
  const arma::uword n_q = 70, n_k = 90;
  const Problem<T> problem = random_rectangle<T>(n_q, n_k, 6, 3, 4, Key(test_seed()).child("one by one"));
  const KrigedInput<T> input(problem);
  const arma::Col<T> equal(n_k, arma::fill::ones), ones(n_q, arma::fill::ones);
  const KeyCells<T> cells =
      make_cells(input, equal, split_points(input.keys.columns, equal, 12, SplitDirection::random, Key(1)));
  const PointTree one = split_points(input.queries.columns, ones, 1, SplitDirection::random, Key(1)),
                  four = split_points(input.queries.columns, ones, 4, SplitDirection::random, Key(1));
  std::vector<std::uint32_t> all(n_k);
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::int64_t> offsets(2 * n_k - 1);
  std::iota(offsets.begin(), offsets.end(), 1 - static_cast<std::int64_t>(n_k));
  const std::vector<std::uint32_t> some(all.begin(), all.begin() + 40);
  const arma::Mat<T> exact = exact_attention(problem, Target::softmax).output;
  const auto gap = [&](const PointTree& tree, const NearField<T>& near) {
    return distance(query_rows(input, tree, cells, near, arma::Mat<T>(), false).output, exact);
  };
  const double bound = 1e3 * 90 * unit<T>();
  CHECK(gap(one, {}) > 0.01);
  CHECK(gap(four, {.lists = {4, all}}) <= bound);
  CHECK(gap(one, {.offsets = offsets}) <= bound);
  const ScreenSizes every{.terms = 1, .keys = {n_k, n_k}, .kept = n_k};
  const auto screen = std::make_shared<const KeyScreen<T>>(input, every);
  CHECK(gap(one, {.screen = screen}) <= bound);
  CHECK(gap(one, {.lists = {some}, .offsets = offsets}) <= bound);
  CHECK(gap(one, {.lists = {some}, .offsets = {-3, 0, 5}, .screen = screen}) <= bound);
}
