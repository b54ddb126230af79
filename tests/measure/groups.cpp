#include <doctest/doctest.h>
#include <croquis/measure/groups.hpp>

#include <cmath>
#include <limits>

#include "support/refusal.hpp"
#include "support/text.hpp"

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
  CHECK(all.members == std::vector<std::string>{"a", "b"});
  CHECK(all.is_nested());
  CHECK_FALSE(group_rows(table).is_nested());
}

TEST_CASE("groups: over the inputs, draws are nested in heads; against sums over the heads written out") {
  Role trial = Role::draw;
  SUBCASE("draws that are cells") {}
  SUBCASE("draws that are parts of a cell") {
    trial = Role::part;
  }
  // Head h at draw t: every head has its level, and a draw moves all heads together; one row failed.
  std::vector<Record> rows;
  const std::vector<std::string> heads = {"a", "b", "c", "d", "e"};
  const std::vector<double> levels = {0.05, 0.3, 0.02, 5.0, 0.4};
  const auto error = [&](std::size_t h, std::uint64_t t) { return levels[h] * (1 + 0.1 * static_cast<double>(t)); };
  const auto failed = [](std::size_t h, std::uint64_t t) { return h == 1 && t == 2; };
  for (std::uint64_t t = 1; t <= 4; ++t) {  // not in the order of the heads
    for (std::size_t h = 0; h < heads.size(); ++h) {
      rows.push_back(row(heads[h].c_str(), "paper", 8, 2, t, failed(h, t) ? std::nan("") : error(h, t),
                         failed(h, t) ? "broke" : "ok"));
    }
  }
  Table table = table_of(rows);
  for (Column& column : table.columns) {  // of `gradient`, where draws are compared, they are parts of one cell
    if (column.name == "trial") column.role = trial;
  }
  const Grouping grouping = group_rows(table, {"input"});
  REQUIRE(grouping.groups.size() == 1);
  CHECK(grouping.draws == 4);
  CHECK(grouping.random);
  CHECK(grouping.groups[0].failed == 1);
  std::vector<double> means;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    double sum = 0, count = 0;
    for (std::uint64_t t = 1; t <= 4; ++t) {
      if (failed(h, t)) continue;
      sum += error(h, t);
      ++count;
    }
    means.push_back(sum / count);
  }
  double mean = 0, squares = 0;
  for (const double m : means) mean += m / 5;
  for (const double m : means) squares += (m - mean) * (m - mean);
  // The draws move all heads together: s^2 / T of what a draw adds to the heads on average.
  std::vector<double> effects;
  for (std::uint64_t t = 1; t <= 4; ++t) {
    double sum = 0, count = 0;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      if (failed(h, t)) continue;
      sum += error(h, t) - means[h];
      ++count;
    }
    effects.push_back(sum / count);
  }
  double middle = 0, of_draws = 0;
  for (const double e : effects) middle += e / 4;
  for (const double e : effects) of_draws += (e - middle) * (e - middle) / 3 / 4;
  const Summary& summary = *grouping.groups[0].metric("error");
  CHECK(summary.count == 5);
  CHECK(summary.mean == doctest::Approx(mean));
  // Five heads and four draws, not nineteen rows.
  CHECK(summary.standard_error == doctest::Approx(std::sqrt(squares / 4 / 5 + of_draws)).epsilon(1e-12));
  CHECK(summary.q50 == doctest::Approx(means[1]));  // 0.025, 0.0625, 0.375 (of 0.3), 0.5, 6.25
  CHECK(summary.smallest == doctest::Approx(means[2]));
  CHECK(summary.largest == doctest::Approx(means[3]));
}

TEST_CASE(
    "groups: over the inputs, what follows from them is no key: layer and head; what follows from the method is") {
  Table table = table_of({});
  const auto subject = [](const char* name, ValueType type) {
    Column column{.name = name, .role = Role::subject};
    column.type = type;
    return column;
  };
  for (const char* name : {"head", "p"}) table.columns.push_back(subject(name, ValueType::count));
  table.columns.push_back(subject("target", ValueType::text));
  for (std::uint64_t h = 0; h < 3; ++h) {
    for (const char* preset : {"paper", "code"}) {
      Record one = row(("head" + std::to_string(h)).c_str(), preset, 8, 2, 1, 1.0);
      one.insert(one.end(), {Value(h), Value(std::uint64_t{64}), Value(std::string(preset) + " target")});
      table.rows.push_back(one);
    }
  }
  CHECK(group_rows(table).groups.size() == 6);
  const Grouping all = group_rows(table, {"input"});
  REQUIRE(all.groups.size() == 2);
  CHECK(all.groups[0].metric("error")->count == 3);
  CHECK_FALSE(all.groups[0].key.contains("head"));
  CHECK(all.groups[0].key.at("p") == "64");
  CHECK(all.groups[0].key.at("target") == "paper target");
  CHECK(all.keys.size() == 6);  // method, preset, n, features; behind the metric p and target
  CHECK(all.leading_keys == 4);
}

TEST_CASE("groups: heads of one sequence are not independent: the standard error is between the sequences' means") {
  const Table table =
      table_of({row("m;sequence=0;head=0", "paper", 8, 2, 1, 1.0), row("m;sequence=0;head=1", "paper", 8, 2, 1, 3.0),
                row("m;sequence=1;head=0", "paper", 8, 2, 1, 5.0), row("m;sequence=1;head=1", "paper", 8, 2, 1, 11.0)});
  const Grouping all = group_rows(table, {"input"});
  const Summary* error = all.groups.at(0).metric("error");
  REQUIRE(error != nullptr);
  CHECK(error->count == 4);
  CHECK(error->mean == 5.0);
  CHECK(error->standard_error == doctest::Approx(3.0));  // of 2 and 8
  CHECK(head_in("m;sequence=0-1;layer=2;head=1;causal") == "m;layer=2;head=1;causal");
  CHECK(sequence_in("m;sequence=0-1;layer=2;head=1;causal") == "0-1");
  CHECK(head_in("arrays:q;batch=3") == "arrays:q");
  CHECK(sequence_in("arrays:q;head=3").empty());
}

TEST_CASE("groups: other columns of numbers are summarised on request alone") {
  Table table = table_of({row("a", "paper", 8, 2, 1, 1.0), row("a", "paper", 8, 2, 2, 1.0)});
  Column seconds{.name = "seconds", .role = Role::number};
  seconds.type = ValueType::number;
  table.columns.push_back(seconds);
  table.rows[0].emplace_back(3.0);
  table.rows[1].emplace_back(5.0);
  CHECK(group_rows(table).groups[0].metric("seconds") == nullptr);
  CHECK(group_rows(table, {}, {"seconds"}).groups[0].metric("seconds")->mean == 4.0);
}

TEST_CASE("groups: rows without a size are refused") {
  Table table = table_of({row("a", "paper", 8, 2, 1, 1.0)});
  for (Column& column : table.columns) column.role = column.role == Role::axis ? Role::number : column.role;
  CHECK(contains(refusal([&] { group_rows(table); }), "without a size"));
}
