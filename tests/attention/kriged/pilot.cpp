// Which plan the check rows of the kriged coreset lead to.
#include <croquis/attention/exact.hpp>
#include <croquis/attention/kriged_coreset.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/random/indices.hpp>

#include "attention/kriged/cases.hpp"

using namespace croquis;

namespace {

using Mode = KrigedCoresetOptions::Mode;

}  // namespace

TEST_CASE("kriged coreset: a query attends one by one to keys at an offset, and to those that stand out in a cell") {
  // Each token's key fits the query 5 places before it; values tell the keys apart.
  const arma::uword n = 120;
  const arma::mat tokens = 9 * arma::normalise(random_matrix(n, 8, Key(test_seed())), 2, 1);
  arma::mat keys = arma::shift(tokens, 5, 0);
  const Problem<double> band(tokens * std::sqrt(8.0) / 6, keys, random_matrix(n, 3, Key(2)));
  const double size = arma::norm(exact_attention(band, Target::softmax).output, "fro");
  const auto error = [&](const KrigedCoresetOptions& options) {
    return arma::norm(
               sized(band, {.landmarks = 8, .checks = 8, .exact_rows = 2, .cells = 20, .window = 40}, options).output -
                   exact_attention(band, Target::softmax).output,
               "fro") /
           size;
  };
  CHECK(error({.mode = Mode::coreset}) > 0.5);
  CHECK(error({.mode = Mode::window}) < 0.1);
  CHECK(error({.mode = Mode::automatic}) < 0.1);
  CHECK(error({.mode = Mode::window, .window = false}) < 0.5);
}

TEST_CASE("kriged coreset: the pilot tells kinds of keys apart that the widest coordinates leave together") {
  // Six kinds of keys, each with queries of its own, and ten cells. A quarter of the coordinates is four of them.
  const arma::uword n = 240, p = 16;
  arma::mat kinds(6, p, arma::fill::zeros);
  for (arma::uword c = 0; c < 6; ++c) kinds(c, c) = 6 - 0.3 * static_cast<double>(c);
  const arma::uvec tokens = arma::regspace<arma::uvec>(0, n - 1), kind = tokens - 6 * (tokens / 6);
  const Problem<double> problem(kinds.rows(kind), kinds.rows(kind), random_matrix(n, 3, Key(6)));
  const KrigedSizes sizes{.landmarks = 10, .checks = 8, .exact_rows = 2, .cells = 20, .window = 50};
  const arma::mat exact = exact_attention(problem, Target::softmax).output,
                  found = sized(problem, sizes, {.mode = Mode::window}).output;
  CHECK(arma::norm(found - exact, "fro") <= 1e-10 * arma::norm(exact, "fro"));
}

TEST_CASE("kriged coreset: where check rows have most of their attention in common, nothing but cells is tried") {
  // Queries of a group attend to the keys of that group, nearly alike.
  const arma::uword n = 360, d = 20;
  const auto diagnostics = [&](arma::uword of_queries, arma::uword of_keys, const KrigedCoresetOptions& options) {
    arma::mat queries(n, 8, arma::fill::zeros), keys(n, 8, arma::fill::zeros);
    for (arma::uword i = 0; i < n; ++i) queries(i, (i / 7) % of_queries) = 9, keys(i, (i / 7) % of_keys) = 9;
    queries += 0.05 * random_matrix(n, 8, Key(test_seed()).child("queries"));
    keys += 0.05 * random_matrix(n, 8, Key(test_seed()).child("keys"));
    return kriged_coreset<double>({queries, keys, random_matrix(n, 8, Key(3))}, d, Key(1), options).diagnostics;
  };
  const auto leaves = [&](bool checks, bool near, bool pilot) {
    const KrigedBudget budget{.flops = skyformer_flops(2 * n, 8, 8, d),
                              .n_q = n,
                              .n_k = n,
                              .p = 8,
                              .p_v = 8,
                              .checks = checks,
                              .near = near,
                              .pilot = pilot};
    return solve_sizes(budget).landmarks;
  };
  REQUIRE(leaves(true, true, true) < leaves(true, false, false));
  REQUIRE(leaves(true, false, false) < leaves(false, false, false));
  const Diagnostics one = diagnostics(1, 8, {});
  CHECK(one.mode == "coreset");
  CHECK(one.leaves == leaves(true, false, false));
  CHECK(diagnostics(1, 8, {.mode = Mode::coreset}).leaves == leaves(false, false, false));
  CHECK(diagnostics(1, 8, {.mode = Mode::window}).mode != "coreset");
  CHECK(diagnostics(1, 8, {.mode = Mode::near}).leaves == leaves(true, true, false));
  // Little in common, but cells are enough: nothing is settled before the pilot, which keys of a query's own then lose.
  const Diagnostics three = diagnostics(3, 3, {});
  CHECK(three.mode == "coreset");
  CHECK(three.leaves == leaves(true, true, true));
}

TEST_CASE("kriged coreset: less in common is enough on long heads") {
  // 40 groups of queries, each with a fortieth of the keys to which they give .55 of their attention, alike; all other
  // keys share the rest. Two queries of different groups have .45 in common, and few of the 8 check rows share a group.
  const arma::uword p = 48, d = 20, groups = 40;
  const auto leaves = [&](arma::uword n, bool pilot) {
    const auto size = static_cast<double>(n);
    return solve_sizes({.flops = skyformer_flops(2 * size, p, 8, d),
                        .n_q = size,
                        .n_k = size,
                        .p = p,
                        .p_v = 8,
                        .checks = true,
                        .near = pilot,
                        .pilot = pilot})
        .landmarks;
  };
  const auto diagnostics = [&](arma::uword n, std::uint64_t draw) {
    const auto own = static_cast<double>(n / groups), others = static_cast<double>(n) - own;
    const double score = std::log(0.55 / 0.45 * others / own);
    arma::mat tokens(n, p, arma::fill::zeros);
    for (arma::uword i = 0; i < n; ++i) tokens(i, i % groups) = std::sqrt(score * std::sqrt(static_cast<double>(p)));
    return kriged_coreset<double>({tokens, tokens, random_matrix(n, 8, Key(3))}, d, Key(draw)).diagnostics;
  };
  const arma::uword few = 960, many = 1200;
  REQUIRE(leaves(few, true) < leaves(few, false));
  REQUIRE(leaves(many, true) < leaves(many, false));
  for (const std::uint64_t draw : {1U, 2U, 3U, 4U}) {
    CAPTURE(draw);
    CHECK(diagnostics(many, draw).leaves == leaves(many, false));
    CHECK(diagnostics(few, draw).leaves != leaves(few, false));
  }
}

TEST_CASE("kriged coreset: a window is judged by the offsets of other check rows") {
  // Every query attends to one key, at an offset of its own: the offsets of a row say nothing about others. At offset 0
  // they say all. There are too many keys for a screen. The order is fixed, and so are the check rows, whose offsets
  // are more than 50 apart in it: a window has room for the offsets of others and for 5 to either side, and in one of
  // thirty random orders it serves so many check rows by chance that it is better than cells.
  const arma::uword n = 4200, p = 32;
  const arma::mat keys = 3 * random_matrix(n, p, Key(test_seed()).child("keys")),
                  values = random_matrix(n, 4, Key(test_seed()).child("values"));
  REQUIRE(n > kMostScreened);
  const arma::uvec shuffled = sample_without_replacement(n, n, Key(4));
  const Problem<double> apart(keys.rows(shuffled), keys, values), along(keys, keys, values);
  CHECK(kriged_coreset<double>(apart, 60, Key(1)).diagnostics.mode != "window");
  CHECK(kriged_coreset<double>(along, 60, Key(1)).diagnostics.mode == "window");
}

TEST_CASE_TEMPLATE("kriged coreset: what rows have in common, the mean over pairs", T, float, double) {
  ExactRows<T> rows;
  rows.weights.zeros(50, 3);
  rows.weights.at(7, 0) = 1;
  rows.weights.col(1).fill(T(0.02));
  rows.weights.col(2).head(8).fill(T(0.125));
  CHECK(mean_overlap(rows) == doctest::Approx((0.02 + 0.125 + 8 * 0.02) / 3).epsilon(1e-6));
  rows.weights.shed_cols(1, 2);
  CHECK(mean_overlap(rows) == 1);
}

TEST_CASE("kriged coreset: more keys than a screen looks at, and no offsets: keys listed for all queries") {
  const arma::uword n_q = 30, n_k = kMostScreened + 20;
  // All queries attend to the same 15 keys, far from each other.
  arma::mat keys = random_matrix(n_k, 6, Key(test_seed()).child("keys"));
  const arma::rowvec along = arma::normalise(random_matrix(1, 6, Key(test_seed()).child("along")), 2, 1);
  const arma::uvec chosen = sample_without_replacement(n_k, 15, Key(test_seed()).child("chosen"));
  for (const arma::uword j : chosen) keys.row(j) += 9 * along;
  arma::mat queries = 0.3 * random_matrix(n_q, 6, Key(test_seed()).child("queries"));
  queries.each_row() += 2 * along;
  const Problem<double> problem(queries, keys, random_matrix(n_k, 3, Key(2)));
  const KrigedCoresetOptions options{.mode = Mode::window, .window = false};
  const KrigedSizes sizes{.landmarks = 5, .checks = 6, .exact_rows = 2, .cells = 9, .window = 40};
  const Approximation<double> approximation = sized(problem, sizes, options);
  CHECK(approximation.diagnostics.mode == "listed");
  const double size = arma::norm(exact_attention(problem, Target::softmax).output, "fro");
  CHECK(gap_to_exact(problem, approximation) < 0.1 * size);
  CHECK(gap_to_exact(problem, sized(problem, sizes, {.mode = Mode::coreset, .kriging = false})) >
        2 * gap_to_exact(problem, approximation));
}
