#include <doctest/doctest.h>
#include <croquis/claims/claim_rows.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/measure/cost.hpp>
#include <croquis/measure/dimension.hpp>
#include <croquis/measure/feature_variance.hpp>
#include <croquis/measure/method_errors.hpp>
#include <croquis/measure/sketch_quality.hpp>
#include <croquis/measure/spectra.hpp>

#include <cmath>
#include <set>

#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

struct Row {
  std::string name = "x";
  std::uint64_t n = 3;
  std::optional<std::uint64_t> d;
  double value = 0.1;
};

const Columns<Row>& columns() {
  static const Columns<Row> all = {{{"name", Role::key, "its name"}, &Row::name},
                                   {{"n", Role::axis, "its size"}, &Row::n},
                                   {{"d", Role::number, "a count that may be missing", "", "", "--d"}, &Row::d},
                                   {{"value", Role::metric, "what was measured", "", "s"}, &Row::value}};
  return all;
}

}  // namespace

TEST_CASE("columns: a row goes through text and back to the bit, with what is missing") {
  const std::set<std::string> options = {"--d"};
  Row row;
  row.name = "a,\"b\"";
  row.value = 1.0 / 3;
  Row missing;
  missing.value = std::nan("");
  row.d = 7;
  Table table{columns().list(options), {}};
  for (const Row& one : {row, missing}) {
    Record parsed;
    const Record record = columns().record(one, options);
    for (std::size_t c = 0; c < record.size(); ++c) parsed.push_back(parse_value(table.columns[c], text_of(record[c])));
    table.rows.push_back(parsed);
  }
  const std::vector<Row> again = columns().rows(table);
  CHECK(again[0].name == row.name);
  CHECK(again[0].d == row.d);
  CHECK(again[0].value == row.value);
  CHECK_FALSE(again[1].d.has_value());
  CHECK(std::isnan(again[1].value));
}

TEST_CASE("columns: the text of a value is what a file gives back") {
  CHECK(text_of(Value("=1+2")) == "'=1+2");
  CHECK(text_of(Value("a,\"b\"")) == "a,\"b\"");
  CHECK(text_of(Value(std::uint64_t{7})) == "7");
  CHECK(text_of(Value(0.1)) == "0.10000000000000001");
  CHECK(text_of(Value()) == "NA");
}

TEST_CASE("columns: a text that is missing is NA in a file, or empty as in earlier ones; a key may be called NA") {
  CHECK(text_of(Value(std::string())) == "NA");
  static const Columns<Row> noted = {{{"n", Role::axis, "its size"}, &Row::n},
                                     {{"name", Role::note, "a name that may be missing"}, &Row::name}};
  Row nameless;
  nameless.name.clear();
  const Record record = noted.record(nameless);
  for (const std::string& field : {text_of(record[1]), std::string()}) {
    const Table table{noted.list(), {parse_record(noted.list(), {"3", field})}};
    CHECK(noted.rows(table)[0].name.empty());
  }
  CHECK(parse_value(columns().all()[0], "NA") == Value("NA"));
}

TEST_CASE("columns: those of an option are there with it alone, and a table without them is read") {
  CHECK(columns().list().size() == 3);
  CHECK(columns().list({"--d"}).size() == 4);
  CHECK(columns().all().size() == 4);
  const Table table{columns().list(), {columns().record(Row{})}};
  CHECK_FALSE(columns().rows(table)[0].d.has_value());
  Table less = table;
  less.columns.pop_back();
  less.rows[0].pop_back();
  CHECK(contains(refusal([&] { columns().rows(less); }), "no column 'value'; there are name, n"));
}

TEST_CASE("columns: what a row is about may be missing in a table, as in files of earlier versions; its keys may not") {
  static const Columns<Row> described = {{{"name", Role::key, "its name"}, &Row::name},
                                         {{"n", Role::subject, "its size"}, &Row::n}};
  Table table{described.list(), {described.record(Row{})}};
  table.columns.pop_back();
  table.rows[0].pop_back();
  CHECK(described.rows(table)[0].n == 3);
  table.columns.pop_back();
  table.rows[0].pop_back();
  CHECK(contains(refusal([&] { described.rows(table); }), "no column 'name'"));
}

TEST_CASE("columns: text that is no number of the column's type is refused with the column's name") {
  const std::vector<Column> all = columns().all();
  CHECK(contains(refusal([&] { parse_value(all[1], "1.5"); }), "n '1.5' is not a whole number"));
  CHECK(contains(refusal([&] { parse_value(all[1], "-1"); }), "n '-1' is not a whole number"));
  CHECK(contains(refusal([&] { parse_value(all[3], "1x"); }), "value '1x' is not a number"));
  CHECK_FALSE(contains(refusal([&] { parse_value(all[3], "1x"); }), "NA"));
  // As pandas and others write what is missing.
  CHECK(contains(refusal([&] { parse_value(all[3], ""); }), "value '' is not a number; a missing number is NA"));
  for (const char* text : {"", "nan", "NaN"}) {
    CHECK(contains(refusal([&] { parse_value(all[1], text); }), "is not a whole number; a missing number is NA"));
  }
  const Table table{columns().list(), {{Value("x"), Value(), Value(1.0)}}};
  CHECK(contains(refusal([&] { columns().rows(table); }), "missing"));
}

TEST_CASE("columns: every column of every measurement has a name of its own and says what it means") {
  for (const std::vector<Column>& all :
       {error_columns().all(), sketch_columns().all(), cost_columns().all(), variance_columns().all(),
        spectrum_columns().all(), dimension_columns().all(), claims::claim_columns().all()}) {
    std::set<std::string> names;
    bool has_key = false;
    for (const Column& column : all) {
      CAPTURE(column.name);
      CHECK(names.insert(column.name).second);
      CHECK(column.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos);
      CHECK_FALSE(column.meaning.empty());
      has_key = has_key || column.is_cell_key();
    }
    CHECK(has_key);
  }
}
