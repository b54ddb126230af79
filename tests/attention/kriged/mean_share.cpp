// What plans by query give to the mean of all values.
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/kriged/plan.hpp>
#include <croquis/attention/kriged/query_rows.hpp>
#include <set>

#include "attention/kriged/cases.hpp"
#include "support/adjoints.hpp"

using namespace croquis;

namespace {

using Mode = KrigedCoresetOptions::Mode;

// Of 0, 1/1024, ..., 1 the share with the smallest squared error of these rows; `planned` and `exact` are without the
// mean of the values.
double best_share(const arma::mat& planned, const arma::mat& exact) {
  double best = 0, least = std::numeric_limits<double>::infinity();
  for (int k = 0; k <= 1024; ++k) {
    const double error = arma::norm((1 - k / 1024.0) * planned - exact, "fro");
    if (error < least) least = error, best = k / 1024.0;
  }
  return best;
}

// The share that all rows choose, if the shares that all others choose lower the error of the rows.
double share_by_search(const arma::mat& planned, const arma::mat& exact) {
  double without = 0, with = 0;
  for (arma::uword r = 0; r < planned.n_rows; ++r) {
    arma::mat other_planned = planned, other_exact = exact;
    other_planned.shed_row(r);
    other_exact.shed_row(r);
    const double share = best_share(other_planned, other_exact);
    without += std::pow(arma::norm(planned.row(r) - exact.row(r)), 2);
    with += std::pow(arma::norm((1 - share) * planned.row(r) - exact.row(r)), 2);
  }
  return with < without ? best_share(planned, exact) : 0.0;
}

}  // namespace

TEST_CASE("kriged coreset: the share of the mean is that of the smallest error of the check rows, or none") {
  const ScreenSizes screen{.terms = 1, .keys = {120, 60, 30}, .kept = 8};
  const KrigedShares shares{.name = "tried", .cells = 0.2, .screen = screen, .kriging = false};
  arma::uword some = 0, none = 0;
  for (std::uint64_t i = 0; i < 30; ++i) {
    CAPTURE(i);
    const Key key = Key(test_seed()).child("share of the mean").child(i);
    // In every other problem most check rows have nearly all of their weight at keys that the plan misses.
    const auto norm = static_cast<double>(i);
    const Problem<double> problem = i % 2 == 0 ? random_rectangle<double>(60, 120, 8, 3, 2 + 0.2 * norm, key)
                                               : random_rectangle<double>(60, 120, 32, 3, 12 + norm, key);
    const KrigedInput<double> input(problem);
    const arma::vec equal(120, arma::fill::ones), ones(60, arma::fill::ones);
    const PointTree one = split_points(input.queries.columns, ones, 1, SplitDirection::random, Key(1)),
                    tree = split_points(input.keys.columns, equal, 10, SplitDirection::random, Key(2));
    const std::vector<arma::uword> checks = {3, 20, 41, 59};
    const arma::uvec of_checks(checks);
    ExactRows<double> rows = exact_rows_of(input, arma::mat(problem.Q().rows(of_checks)), {});
    rows.leaf.assign(checks.size(), 0);
    const PlanInput<double> from{input, one, rows, checks, tree, make_cells(input, equal, tree), 40};
    const auto plan = plan_by_query(from, {.name = "cells", .cells = 0.25}, {shares}, true);
    REQUIRE(plan.has_value());
    KeyCells<double> cells = plan->cells;
    const double found = cells.mean_share;
    const auto output = [&] { return query_rows(input, one, cells, plan->near, arma::mat(), false).output; };
    const arma::mat with = output();
    cells.mean_share = 0;
    const arma::mat without = output();
    const arma::rowvec mean = arma::mean(problem.V(), 0);
    CHECK(distance(with, arma::mat((1 - found) * without + found * arma::mat(60, 1, arma::fill::ones) * mean)) <=
          1e-14);
    arma::mat planned = without.rows(of_checks),
              exact = exact_attention(problem, Target::softmax).output.rows(of_checks);
    planned.each_row() -= mean;
    exact.each_row() -= mean;
    const double expected = share_by_search(planned, exact);
    CHECK(found == expected);
    (expected > 0 ? some : none) += 1;
  }
  CHECK(some > 3);
  CHECK(none > 3);
}

TEST_CASE(
    "kriged coreset: with a share of the mean the rows of B~ sum to 1, and B~, its transpose and its adjoint agree") {
  // Sharp rows and few coordinates to look at: much is missed.
  const Key key = Key(84);
  std::set<std::string> plans;
  for (const arma::uword keys : {8, 20}) {
    const KrigedSizes sizes{.landmarks = 6, .checks = 8, .exact_rows = 2, .cells = 9, .window = keys};
    for (std::uint64_t i = 0; i < 4; ++i) {
      CAPTURE(keys);
      CAPTURE(i);
      const Problem<double> problem = random_rectangle<double>(70, 90, 12, 3, 4, key.child(i));
      const auto approximated = [&](const Problem<double>& of) { return sized(of, sizes, {.mode = Mode::window}); };
      const Approximation<double> approximation = approximated(problem);
      if (!(approximation.diagnostics.mean_share > 0.05)) continue;
      plans.insert(approximation.diagnostics.mode);
      CHECK(row_sum_gap(approximation) <= 1e-11);
      CHECK(interface_gap(approximation, problem) <= 1e-11);
      check_against_differences(
          problem, [&](const Problem<double>& of) { return approximated(of).output; }, approximation.adjoint,
          key.child("directions").child(i), 1e-7, 0x1p-17);
    }
  }
  CHECK(plans == std::set<std::string>{"screened", "window"});
}
