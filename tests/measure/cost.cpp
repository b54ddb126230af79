// Costs of calls as rows. Nothing here looks at how long anything took.
#include <doctest/doctest.h>

#include <cmath>
#include <croquis/attention/method.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/measure/cost.hpp>
#include <string>

#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

template <typename T = double>
Problem<T> small_problem() {
  return random_problem<T>(32, 4, 3, 2, Key(test_seed()).child("cost"));
}

std::vector<std::string> names_of(const std::vector<CostCandidate>& candidates) {
  std::vector<std::string> names;
  for (const CostCandidate& candidate : candidates) names.push_back(candidate.choice.name);
  return names;
}

}  // namespace

TEST_CASE("call_costs: a row a repeat, with the sizes, the declared flops and a time") {
  const auto problem = small_problem();
  const MethodChoice skyformer = parse_methods("skyformer").front();
  const auto rows = call_costs(problem, {skyformer}, 8, Key(1), {.repeats = 3, .warmup = 0});
  const double flops = prepare(find_method<double>("skyformer"), problem).flops(8);
  REQUIRE(rows.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(rows[i].repeat == i + 1);
    CHECK(rows[i].method == "skyformer");
    CHECK(rows[i].preset == "paper");
    CHECK(rows[i].n == 32);
    CHECK(rows[i].p == 4);
    CHECK(rows[i].p_v == 3);
    CHECK(rows[i].features == 8);
    CHECK(rows[i].precision == "double");
    CHECK(rows[i].threads == static_cast<std::uint64_t>(threads()));
    CHECK(rows[i].flops == flops);
    CHECK(rows[i].seconds >= 0);
    CHECK(rows[i].status == "ok");
  }
  const auto rectangle = random_rectangle<double>(8, 32, 4, 3, 2, Key(test_seed()));
  CHECK(call_costs(rectangle, {parse_methods("v-mean").front()}, 8, Key(1), {.repeats = 1}).front().n == 32);
  CHECK(call_costs(small_problem<float>(), {skyformer}, 8, Key(1), {.repeats = 1}).front().precision == "float");
}

TEST_CASE("call_costs: exact attention has 2 n^2 (p + p_v) flops and an exponential a score") {
  const auto rows = call_costs(small_problem(), cost_candidates({}, false).front(), 0, Key(1), {.repeats = 1});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].method == "exact");
  CHECK(rows[0].features == 0);
  CHECK(rows[0].flops == 2.0 * 32 * 32 * (4 + 3) + 32 * 32);
}

TEST_CASE("call_costs: a method that fails has the reason in every row, and no time") {
  // More features than tokens.
  const auto rows =
      call_costs(small_problem(), {parse_methods("best-rank-d").front()}, 33, Key(1), {.repeats = 2, .warmup = 0});
  REQUIRE(rows.size() == 2);
  for (const CostRow& row : rows) {
    CHECK(row.status != "ok");
    CHECK(std::isnan(row.seconds));
  }
  CHECK(refusal([] {
          call_costs(small_problem(), cost_candidates({}, false).front(), 0, Key(1), {.repeats = 0});
        }).find("repeats") != std::string::npos);
}

TEST_CASE("cost_candidates: exact attention to the targets of the methods comes before them") {
  const auto methods = parse_methods("skyformer,nprf-rpe,linformer");
  using Names = std::vector<std::string>;
  CHECK(names_of(cost_candidates({}, true)) == Names{"exact"});
  CHECK(names_of(cost_candidates(methods, false)) ==
        Names{"exact", "exact-kernelized", "skyformer", "nprf-rpe", "linformer"});
  CHECK(names_of(cost_candidates(methods, true)) ==
        Names{"exact", "exact-kernelized", "exact-normalized-rpe", "skyformer", "nprf-rpe", "linformer"});
}

TEST_CASE("cost_columns: rows come back from a table, and n is the axis where there are several") {
  Table table{cost_columns().list(), {}};
  for (const std::uint64_t n : {100, 200, 400}) {
    for (std::uint64_t repeat = 1; repeat <= 2; ++repeat) {
      CostRow row;
      row.input = "gaussian";
      row.method = "skyformer";
      row.preset = "paper";
      row.n = n;
      row.features = 16;
      row.repeat = repeat;
      row.precision = "double";
      row.seconds = std::pow(static_cast<double>(n), 1.5);
      row.peak_bytes = 1024;
      row.flops = 1e6;
      table.rows.push_back(cost_columns().record(row));
    }
  }
  const auto back = cost_columns().rows(table);
  for (std::size_t i = 0; i < back.size(); ++i) CHECK(cost_columns().record(back[i]) == table.rows[i]);

  const Grouping grouping = group_rows(table);
  CHECK(grouping.axis.name == "n");
  REQUIRE(grouping.groups.size() == 3);
  CHECK(grouping.groups[0].metric("seconds")->count == 2);
  const auto growth = growth_of_time(grouping);
  REQUIRE(growth.size() == 1);
  CHECK(growth[0].label == "skyformer (d = 16)");
  CHECK(growth[0].fit.slope == doctest::Approx(1.5));

  Table two_sizes = table;
  two_sizes.rows.resize(4);
  CHECK(growth_of_time(group_rows(two_sizes)).empty());  // a line through two points says nothing of its error
  table.rows.resize(2);                                  // one n: curves run over d
  CHECK(refusal([&] { growth_of_time(group_rows(table)); }).find("axis") != std::string::npos);
}
