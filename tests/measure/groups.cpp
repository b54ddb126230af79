#include <doctest/doctest.h>
#include <croquis/measure/groups.hpp>

#include <cmath>
#include <limits>

#include "support/refusal.hpp"

using namespace croquis;

namespace {

Table table_of(const std::vector<Record>& rows) {
  const auto column = [](const char* name, Role role, ValueType type, const char* symbol = "") {
    Column one{.name = name, .role = role, .symbol = symbol};
    one.type = type;
    return one;
  };
  return {{column("input", Role::key, ValueType::text), column("method", Role::curve, ValueType::text),
           column("preset", Role::curve, ValueType::text), column("n", Role::axis, ValueType::count),
           column("features", Role::axis, ValueType::count, "d"), column("trial", Role::draw, ValueType::count),
           column("error", Role::metric, ValueType::number), column("status", Role::note, ValueType::text)},
          rows};
}

Record row(const char* input, const char* preset, std::uint64_t n, std::uint64_t d, std::uint64_t trial, double error,
           const char* status = "ok") {
  return {Value(input), Value("m"), Value(preset), n, d, trial, error, Value(status)};
}

}  // namespace

TEST_CASE("groups: repetitions are one group, whose mean leaves out what failed and counts it") {
  const Grouping grouping =
      group_rows(table_of({row("a", "paper", 8, 2, 1, 1.0), row("a", "paper", 8, 2, 2, 3.0),
                           row("a", "paper", 8, 2, 3, std::nan(""), "broke"), row("a", "paper", 8, 4, 1, 5.0),
                           row("a", "paper", 8, 4, 2, std::numeric_limits<double>::infinity())}));
  REQUIRE(grouping.groups.size() == 2);
  CHECK(grouping.axis.name == "features");
  CHECK(grouping.groups[0].x == 2);
  CHECK(grouping.groups[0].failed == 1);
  CHECK(grouping.groups[0].metric("error")->count == 2);
  CHECK(grouping.groups[0].metric("error")->mean == 2.0);
  CHECK(grouping.groups[1].metric("error")->mean == 5.0);
  CHECK(grouping.groups[0].metric("none") == nullptr);
}

TEST_CASE("groups: curves run over the first size that has several values, and the other names them") {
  const Grouping over_n = group_rows(table_of({row("a", "paper", 8, 2, 1, 1.0), row("a", "paper;r=1", 16, 0, 1, 1.0)}));
  CHECK(over_n.axis.name == "n");
  CHECK(over_n.groups[0].label == "m (d = 2)");
  CHECK(over_n.groups[1].label == "m (r=1)");
  const Grouping over_d = group_rows(table_of({row("a", "code", 8, 2, 1, 1.0), row("a", "code", 8, 4, 1, 1.0)}));
  CHECK(over_d.axis.name == "features");
  CHECK(over_d.groups[0].label == "m (code, n = 8)");
}

TEST_CASE("groups: over the inputs, the rows of several heads are one group") {
  const Table table = table_of({row("a", "paper", 8, 2, 1, 1.0), row("b", "paper", 8, 2, 1, 3.0)});
  CHECK(group_rows(table).groups.size() == 2);
  const Grouping all = group_rows(table, {"input"});
  REQUIRE(all.groups.size() == 1);
  CHECK(all.groups[0].metric("error")->mean == 2.0);
  CHECK_FALSE(all.groups[0].key.contains("input"));
}

TEST_CASE("groups: rows without a size are refused") {
  Table table = table_of({row("a", "paper", 8, 2, 1, 1.0)});
  for (Column& column : table.columns) column.role = column.role == Role::axis ? Role::number : column.role;
  CHECK(contains(refusal([&] { group_rows(table); }), "without a size"));
}
