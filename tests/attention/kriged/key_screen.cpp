// Keys found by parts of their scores against sorting all of them, and the rows made of them.
#include <croquis/attention/kriged/key_screen.hpp>

#include <croquis/attention/exact.hpp>
#include <croquis/attention/kriged/plan.hpp>
#include <croquis/attention/kriged/query_rows.hpp>
#include <croquis/attention/kriged/sized.hpp>
#include <croquis/random/indices.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>

#include "support/approximations.hpp"

using namespace croquis;

namespace {

// The places of the `count` largest of some values, the first of equal ones.
std::vector<std::size_t> largest(const std::vector<long double>& values, std::size_t count) {
  std::vector<std::size_t> places(values.size());
  for (std::size_t j = 0; j < places.size(); ++j) places[j] = j;
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  places.resize(std::min(count, places.size()));
  std::sort(places.begin(), places.end());
  return places;
}

struct Chosen {
  std::set<std::uint32_t> keys;
  long double least = std::numeric_limits<long double>::infinity();  // of the sums they were chosen by
};

// The definition in key_screen.hpp for keys that are not centred, in long double; `out` are left out.
Chosen chosen_of(const arma::mat& query, const arma::mat& keys, const ScreenSizes& sizes,
                 const std::set<std::uint32_t>& out) {
  const arma::mat centred = keys.each_row() - arma::mean(keys, 0);
  const arma::rowvec deviations = arma::stddev(keys, 1, 0);
  std::vector<long double> terms(keys.n_cols);
  for (std::size_t t = 0; t < terms.size(); ++t) terms[t] = std::abs(query(0, t)) * deviations(t);
  const auto sum = [&](std::uint32_t j, std::size_t count) {
    long double total = 0;
    for (const std::size_t t : largest(terms, count)) total += static_cast<long double>(query(0, t)) * centred(j, t);
    return total;
  };
  std::vector<std::uint32_t> left;
  for (std::uint32_t j = 0; j < keys.n_rows; ++j) {
    if (!out.contains(j)) left.push_back(j);
  }
  Chosen chosen;
  for (std::size_t round = 1; round <= sizes.keys.size(); ++round) {
    std::vector<long double> sums;
    std::vector<std::uint32_t> next;
    for (const std::uint32_t j : left) sums.push_back(sum(j, round * sizes.terms));
    chosen.least = std::numeric_limits<long double>::infinity();
    for (const std::size_t place : largest(sums, round < sizes.keys.size() ? sizes.keys[round] : sizes.kept)) {
      next.push_back(left[place]);
      chosen.least = std::min(chosen.least, sums[place]);
    }
    left = next;
  }
  chosen.keys = {left.begin(), left.end()};
  return chosen;
}

const std::vector<ScreenSizes> kScreens = {{.terms = 1, .keys = {90, 40, 20}, .kept = 5},
                                           {.terms = 2, .keys = {90}, .kept = 8},
                                           {.terms = 2, .keys = {90, 90, 30}, .kept = 1},
                                           {.terms = 7, .keys = {90}, .kept = 90}};

}  // namespace

TEST_CASE_TEMPLATE("key screen: the keys with the largest partial scores, round by round", T, float, double) {
  // Multiples of 1/8, whose products and sums have no rounding; the columns' means are zero.
  // A fixed draw: of others two columns can have equal squares, and rounding then chooses which of two equal terms is
  // first. Here terms differ by 0.7 % or more.
  arma::mat keys = arma::round(8 * random_matrix(90, 7, Key(1).child("keys"))) / 8;
  keys.tail_rows(45) = -keys.head_rows(45);
  const arma::mat queries = arma::round(8 * random_matrix(40, 7, Key(1).child("queries"))) / 8;
  // Also keys that are next to nothing, whose scores are below the least normal number, and the largest that are taken.
  const int least = std::numeric_limits<T>::min_exponent, most = std::numeric_limits<T>::max_exponent;
  for (const T factor : {T(1), std::ldexp(T(1), least - 14), std::ldexp(T(1), most / 2 - 12)}) {
    const Problem<T> problem(arma::conv_to<arma::Mat<T>>::from(queries),
                             factor * arma::conv_to<arma::Mat<T>>::from(keys), arma::conv_to<arma::Mat<T>>::from(keys));
    const KrigedInput<T> input(problem);
    for (const ScreenSizes& sizes : kScreens) {
      const KeyScreen<T> screen(input, sizes);
      for (arma::uword i = 0; i < queries.n_rows; ++i) {
        const arma::Col<T> query = problem.Q().row(i).t();
        const std::vector<std::uint32_t> there = {3, 80, 41}, without = {7, 8};
        for (const bool some_are_out : {false, true}) {
          std::vector<std::uint32_t> found;
          std::vector<T> scores;
          if (some_are_out) found = there;
          screen.choose(query.memptr(), some_are_out ? &without : nullptr, found, scores);
          if (some_are_out) found.erase(found.begin(), found.begin() + 3);
          REQUIRE(scores.size() == found.size());
          for (std::size_t k = 0; k < found.size(); ++k) {
            CHECK(scores[k] == factor * T(arma::dot(queries.row(i), keys.row(found[k]))));
          }
          CHECK(std::is_sorted(found.begin(), found.end()));
          const std::set<std::uint32_t> out =
              some_are_out ? std::set<std::uint32_t>{3, 80, 41, 7, 8} : std::set<std::uint32_t>{};
          CHECK(std::set<std::uint32_t>(found.begin(), found.end()) ==
                chosen_of(queries.row(i), keys, sizes, out).keys);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("key screen: rows attend one by one to the keys it finds, and half way to what is left of cells", T,
                   float, double) {
  const arma::uword n_q = 70, n_k = 90;
  const Problem<T> problem = random_rectangle<T>(n_q, n_k, 7, 3, 3, Key(test_seed()).child("rows"));
  const KrigedInput<T> input(problem);
  const arma::Col<T> equal(n_k, arma::fill::ones), ones(n_q, arma::fill::ones);
  const KeyCells<T> cells =
      make_cells(input, equal, split_points(input.keys.columns, equal, 5, SplitDirection::random, Key(1)));
  const arma::uvec of_cell = arma::conv_to<arma::uvec>::from(cells.cell);
  const PointTree one = split_points(input.queries.columns, ones, 1, SplitDirection::random, Key(1));
  const std::vector<std::uint32_t> list = {4, 40, 77};
  const std::vector<std::int64_t> offsets = {-2, 1};
  for (const ScreenSizes& sizes : kScreens) {
    const NearField<T> near{
        .lists = {list}, .offsets = offsets, .screen = std::make_shared<const KeyScreen<T>>(input, sizes)};
    const QueryRows<T> rows = query_rows(input, one, cells, near, arma::Mat<T>(), false);
    const arma::mat keys = arma::conv_to<arma::mat>::from(input.keys.columns.t()),
                    values = arma::conv_to<arma::mat>::from(
                        arma::join_rows(problem.V(), arma::Col<T>(n_k, arma::fill::ones)));
    for (arma::uword i = 0; i < n_q; ++i) {
      const arma::rowvec query = arma::conv_to<arma::rowvec>::from(problem.Q().row(i)) / std::sqrt(7.0);
      std::set<std::uint32_t> own(list.begin(), list.end());
      for (const std::int64_t offset : offsets) {
        // Query and key n_k - n_q + i are of one token.
        const std::int64_t j = static_cast<std::int64_t>(i + n_k - n_q) + offset;
        if (j >= 0 && j < static_cast<std::int64_t>(n_k)) own.insert(static_cast<std::uint32_t>(j));
      }
      Chosen chosen = chosen_of(query, keys, sizes, own);
      own.merge(chosen.keys);
      arma::rowvec sums(4, arma::fill::zeros);
      for (const std::uint32_t j : own) sums += std::exp(arma::dot(query, keys.row(j))) * values.row(j);
      for (arma::uword c = 0; c < cells.size(); ++c) {
        std::vector<arma::uword> left;
        for (std::uint32_t j = 0; j < n_k; ++j) {
          if (cells.cell[j] == c && !own.contains(j)) left.push_back(j);
        }
        if (left.empty()) continue;
        const arma::uvec rest(left), whole = arma::find(of_cell == c);
        const arma::rowvec mean = (arma::mean(keys.rows(rest), 0) + arma::mean(keys.rows(whole), 0)) / 2;
        sums += std::exp(arma::dot(query, mean)) * arma::sum(values.rows(rest), 0);
      }
      const arma::rowvec output = arma::conv_to<arma::rowvec>::from(rows.output.row(i));
      CHECK(arma::norm(output - sums.head(3) / sums(3)) <= 1e4 * unit<T>() * arma::norm(values, "fro"));
      // How much the largest key that was left out may weigh.
      const double doubt = std::exp(static_cast<double>(chosen.least)) / sums(3);
      CHECK(std::abs(static_cast<double>(rows.doubts[i]) / doubt - 1) <= 1e4 * unit<T>());
    }
  }
}

TEST_CASE("key screen: one costs at most what so many keys do, and with one key more it would cost more") {
  std::size_t most = 0, fewer = 0, none = 0;
  for (const double n_k : {100.0, 500.0, 1500.0, 4096.0, 4097.0}) {
    for (const double p : {5.0, 32.0, 64.0}) {
      // With 18.11 the first round takes .755 of all for 500 keys and p = 32, which would leave one key.
      for (const double keys : {3.0, 18.11, 40.0, 75.0, 150.0, 1000.0}) {
        CAPTURE(n_k);
        CAPTURE(p);
        CAPTURE(keys);
        const KrigedBudget budget{.n_q = 400, .n_k = n_k, .p = p, .p_v = 24};
        const ScreenSizes sizes = solve_screen(budget, keys);
        const double all = keys * (2 * p + 2 * 25 + 3) * std::max(400.0, n_k) / 400;
        const double terms = p == 5 ? 1 : p / 16, rounds = p == 5 ? 5 : 8;
        // What rounds without end take, n + n s + n s^2 + ..., is 2/3 of all.
        const double share = 1 - 2 * terms * n_k / (2 * all / 3);
        if (n_k > kMostScreened || 2 * terms * n_k > 0.75 * all) {
          CHECK(sizes.kept == 0);
          ++none;
          continue;
        }
        const auto keys_of = [&](double kept) {
          std::vector<double> of{n_k};
          while (of.size() < rounds) {
            of.push_back(std::min(of.back(), std::max(std::ceil(std::clamp(share, 0.2, 0.9) * of.back()), 3 * kept)));
          }
          return of;
        };
        const auto flops = [&](double kept) {
          double sum = kept * (2 * (p - terms * rounds) + 2 * 25 + 3);
          for (const double n : keys_of(kept)) sum += 2 * terms * n;
          return sum;
        };
        if (sizes.kept == 0) {  // nothing is left for a key
          CHECK(flops(1) > all);
          ++none;
          continue;
        }
        (share < 0.9 ? fewer : most) += 1;
        CHECK(sizes.terms == terms);
        const auto kept = static_cast<double>(sizes.kept);
        CHECK(std::vector<double>(sizes.keys.begin(), sizes.keys.end()) == keys_of(kept));
        CHECK(flops(kept) <= all);
        if (kept < n_k) CHECK(flops(kept + 1) > all);
      }
    }
  }
  CHECK(most > 3);
  CHECK(fewer > 3);
  CHECK(none > 3);
}

TEST_CASE("key screen: keys at no offset that fit one query each are found") {
  const arma::uword n = 200;
  const arma::mat tokens = 9 * arma::normalise(random_matrix(n, 16, Key(test_seed()).child("fit")), 2, 1);
  const arma::uvec order = sample_without_replacement(n, n, Key(test_seed()).child("order"));
  const Problem<double> problem(tokens * 4 / 6, tokens.rows(order), random_matrix(n, 3, Key(2)));
  const arma::mat exact = exact_attention(problem, Target::softmax).output;
  const auto input = std::make_shared<const KrigedInput<double>>(problem);
  const KrigedSizes sizes{.landmarks = 8, .checks = 6, .exact_rows = 2, .cells = 20, .window = 60};
  const auto error = [&](const KrigedCoresetOptions& options, const char* mode) {
    const Approximation<double> approximation = kriged_of_sizes<double>(input, sizes, options, Key(1));
    CHECK(approximation.diagnostics.mode == mode);
    return arma::norm(approximation.output - exact, "fro") / arma::norm(exact, "fro");
  };
  using Mode = KrigedCoresetOptions::Mode;
  CHECK(error({.mode = Mode::coreset}, "coreset") > 0.5);
  // Queries that attend to all keys alike: nothing to be found.
  const Problem<double> smooth(0.1 * problem.Q(), problem.K(), problem.V());
  const auto of_smooth = std::make_shared<const KrigedInput<double>>(smooth);
  CHECK(kriged_of_sizes<double>(of_smooth, sizes, {}, Key(1)).diagnostics.mode == "coreset");
  CHECK(error({.mode = Mode::automatic}, "screened") < 0.3);
  CHECK(error({.mode = Mode::window, .window = false}, "screened") < 0.3);
}

TEST_CASE("key screen: a key that all queries attend to, and the next one, are not missed for their small terms") {
  // Every query attends to a key of its own, whose terms are large, and to another one with as much weight, whose score
  // is the sum of 16 or 64 small terms. One problem of each kind, in which check rows agree on the offset.
  const arma::uword n = 200;
  const Key key = Key(1).child("small terms");
  const arma::mat tokens = 12 * arma::normalise(random_matrix(n, 24, key.child("tokens")), 2, 1),
                  codes = arma::sign(random_matrix(n, 64, key.child("codes")));
  const arma::uvec order = sample_without_replacement(n, n, key.child("order"));
  arma::mat one(n, 16, arma::fill::zeros);
  one.row(17).fill(1);
  const KrigedSizes sizes{.landmarks = 8, .checks = 6, .exact_rows = 2, .cells = 20, .window = 60};
  const auto error = [&](const arma::mat& small_q, const arma::mat& small_k, bool window, double scale) {
    const double p = 24 + static_cast<double>(small_q.n_cols);
    const Problem<double> problem(arma::join_rows(tokens, scale * small_q) * std::sqrt(p) / 12,
                                  arma::join_rows(tokens.rows(order), scale * small_k),
                                  random_matrix(n, 3, key.child("values")));
    const arma::mat exact = exact_attention(problem, Target::softmax).output;
    const auto input = std::make_shared<const KrigedInput<double>>(problem);
    const Approximation<double> approximation =
        kriged_of_sizes<double>(input, sizes, {.mode = KrigedCoresetOptions::Mode::window, .window = window}, Key(1));
    CHECK(approximation.diagnostics.mode == "screened");
    return arma::norm(approximation.output - exact, "fro") / arma::norm(exact, "fro");
  };
  const arma::mat ones(n, 16, arma::fill::ones);
  for (const bool window : {true, false}) CHECK(error(ones, one, window, 3) < 0.05);
  CHECK(error(codes, arma::shift(codes, 1, 0), true, 1.5) < 0.1);
  CHECK(error(codes, arma::shift(codes, 1, 0), false, 1.5) > 0.2);
}

namespace {

// The listed keys if all check rows but r choose them: those with the largest sums of |b - y| |v|, for a row b and the
// weights y of the cells, the largest of its terms left out.
std::vector<std::uint32_t> listed_by_others(const PlanInput<double>& from, const KrigedPlan<double>& plan,
                                            arma::uword r) {
  const arma::mat& values = from.input.problem.V();
  std::vector<std::pair<double, std::uint32_t>> sums;
  for (arma::uword j = 0; j < values.n_rows; ++j) {
    std::vector<double> terms;
    for (arma::uword t = 0; t < from.checks.size(); ++t) {
      if (t == r) continue;
      const double gap = from.rows.weights.at(j, t) - plan.cell_weights.at(t, plan.cells.cell[j]);
      terms.push_back(std::fabs(gap) * arma::norm(values.row(j) - arma::mean(values, 0)));
    }
    std::sort(terms.begin(), terms.end());
    sums.emplace_back(-std::accumulate(terms.begin(), terms.end() - 1, 0.0), j);
  }
  std::sort(sums.begin(), sums.end());
  std::vector<std::uint32_t> keys;
  for (std::size_t k = 0; k < plan.near.lists.front().size(); ++k) keys.push_back(sums[k].second);
  std::sort(keys.begin(), keys.end());
  return keys;
}

// The relative error of the check rows' outputs, each with the keys that the others list.
double error_at_checks(const PlanInput<double>& from, const KrigedPlan<double>& plan) {
  const arma::uvec checks(from.checks);
  const arma::mat exact = exact_attention(from.input.problem, Target::softmax).output.rows(checks);
  arma::mat output = exact;
  KeyCells<double> cells = plan.cells;
  cells.mean_share = 0;  // plans are compared without it
  for (arma::uword r = 0; r < checks.n_elem; ++r) {
    NearField<double> near = plan.near;
    if (!near.lists.empty()) near.lists.front() = listed_by_others(from, plan, r);
    output.row(r) = query_rows(from.input, from.query_tree, cells, near, arma::mat(), false).output.row(checks[r]);
  }
  return arma::norm(output - exact, "fro") / arma::norm(exact, "fro");
}

}  // namespace

TEST_CASE("key screen: the error of a plan at a check row is that of its row if the other rows list keys for all") {
  const Problem<double> problem = random_rectangle<double>(60, 200, 16, 3, 5, Key(test_seed()).child("check rows"));
  const KrigedInput<double> input(problem);
  const arma::vec equal(200, arma::fill::ones), ones(60, arma::fill::ones);
  const PointTree one = split_points(input.queries.columns, ones, 1, SplitDirection::random, Key(1)),
                  tree = split_points(input.keys.columns, equal, 12, SplitDirection::random, Key(2));
  const std::vector<arma::uword> checks = {3, 20, 41, 59};
  ExactRows<double> rows = exact_rows_of(input, arma::mat(problem.Q().rows(arma::uvec(checks))), {});
  rows.leaf.assign(checks.size(), 0);
  for (const double near : {0.0, 0.1}) {
    for (const bool screened : {true, false}) {
      if (!screened && near == 0) continue;
      CAPTURE(near);
      CAPTURE(screened);
      KrigedShares shares{.name = "tried", .cells = 0.2, .near = near, .kriging = false};
      if (screened) shares.screen = {.terms = 2, .keys = {200, 100, 60}, .kept = 15};
      const PlanInput<double> from{input, one, rows, checks, tree, make_cells(input, equal, tree), 40};
      const auto plan = plan_by_query(from, {.name = "cells", .cells = 0.25}, {shares}, true);
      REQUIRE(plan.has_value());
      const double error = error_at_checks(from, *plan);
      CHECK(error > 0.01);
      CHECK(plan->check_error == doctest::Approx(error).epsilon(1e-9));
    }
  }
}

TEST_CASE("key screen: the error at check rows with offsets that all of them choose") {
  // Every query attends to the key before it and, in part, to keys that a screen finds. One problem, on which they
  // agree.
  const arma::uword n = 150;
  const Problem<double> random = random_problem<double>(n, 16, 3, 4, Key(1).child("offset"));
  arma::mat q = random.Q();
  q.tail_rows(n - 1) += 2 * random.K().head_rows(n - 1);
  const Problem<double> problem(q, random.K(), random.V());
  const KrigedInput<double> input(problem);
  const arma::vec ones(n, arma::fill::ones);
  const PointTree one = split_points(input.queries.columns, ones, 1, SplitDirection::random, Key(1)),
                  tree = split_points(input.keys.columns, ones, 12, SplitDirection::random, Key(2));
  const std::vector<arma::uword> checks = {9, 50, 71, 140};
  ExactRows<double> rows = exact_rows_of(input, arma::mat(q.rows(arma::uvec(checks))), {});
  rows.leaf.assign(checks.size(), 0);
  const PlanInput<double> from{input, one, rows, checks, tree, make_cells(input, ones, tree), 40};
  const ScreenSizes screen{.terms = 4, .keys = {150, 40}, .kept = 12};
  const KrigedShares shares{
      .name = "tried", .cells = 0.2, .near = 0.1, .window = 0.025, .screen = screen, .kriging = false};
  const auto plan = plan_by_query(from, {.name = "cells", .cells = 0.25}, {shares}, true);
  REQUIRE(plan.has_value());
  REQUIRE(plan->near.offsets == std::vector<std::int64_t>{-1});
  CHECK(plan->check_error == doctest::Approx(error_at_checks(from, *plan)).epsilon(1e-9));
}

TEST_CASE("key screen: what is left of a cell may have the largest score") {
  const Problem<double> problem(arma::vec{1, 1}, arma::vec{-1, 1}, arma::vec{0, 1});
  const KrigedInput<double> input(problem);
  const arma::vec ones(2, arma::fill::ones);
  const PointTree one = split_points(input.queries.columns, ones, 1, SplitDirection::far, Key(1));
  const KeyCells<double> cells =
      make_cells(input, ones, split_points(input.keys.columns, ones, 1, SplitDirection::far, Key(1)));
  const NearField<double> near{.lists = {{0}}, .offsets = {0}};
  const arma::mat output = query_rows(input, one, cells, near, arma::mat(), false).output;
  // Query 0 takes key 0 out of the cell, whose mean is 0; half way to the key that is left is 1/2. Query 1 takes both.
  CHECK(output(0) == doctest::Approx(1 / (1 + std::exp(-1.5))).epsilon(1e-12));
  CHECK(output(1) == doctest::Approx(1 / (1 + std::exp(-2.0))).epsilon(1e-12));
}
