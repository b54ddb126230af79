#include <doctest/doctest.h>
#include <croquis/io/csv.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

using Fields = std::vector<std::string>;

}  // namespace

TEST_CASE("csv: a line of fields is split into the same fields, whatever they hold but line breaks") {
  const Fields fields = {"", "plain", "a,b", "\"", "\"quoted\"", ",", "two words ", "1.5", "a\"b,\"\"c"};
  for (const std::string& field : fields) CHECK(split_csv_line(csv_field(field)) == Fields{field});
  std::string line = csv_field(fields[0]);
  for (std::size_t i = 1; i < fields.size(); ++i) line.append(",").append(csv_field(fields[i]));
  CHECK(split_csv_line(line) == fields);
  CHECK(csv_field("plain") == "plain");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"no\"") == "\"say \"\"no\"\"\"");
  CHECK(csv_field("two\nlines\r") == "\"two lines \"");  // a row stays on its line
  CHECK(csv_field("two\rlines") == "\"two lines\"");
  CHECK(split_csv_line("") == Fields{""});
  CHECK(split_csv_line(",") == Fields{"", ""});
}

TEST_CASE("csv: text that a spreadsheet would run as a formula gets an apostrophe, once; numbers stay numbers") {
  for (const std::string text : {"=1+2", "+cmd", "-x", "@sum", "-", "+", "=", "-1,5", "-1.5x"}) {
    CAPTURE(text);
    CHECK(split_csv_line(csv_field(text)) == Fields{"'" + text});
    CHECK(csv_field(split_csv_line(csv_field(text))[0]) == csv_field(text));  // as read from a file and written again
  }
  for (const std::string text : {"-1.5", "-0", "-inf", "-1e-300", "1", "", "a=b", "NA", "'=1"})
    CHECK(csv_field(text) == text);
}

TEST_CASE("csv: a number is read again to the bit, and NaN is NA") {
  using limits = std::numeric_limits<double>;
  for (const double x : {0.1, 1.0 / 3, -2e-300, limits::max(), limits::denorm_min(), 1e22, -0.0, 123456789.125}) {
    CHECK(std::strtod(csv_number(x).c_str(), nullptr) == x);
  }
  CHECK(csv_number(std::nan("")) == "NA");
  CHECK(csv_number(2) == "2");
}

TEST_CASE("csv: a table is read with its header, and a torn last line is dropped") {
  const TemporaryFolder folder;
  const std::string path = (folder / "t.csv").string();
  write_text(path, "name,n\r\n\"a,b\",1\nc,2\nd");
  const CsvTable table = read_csv(path);
  CHECK(table.header == Fields{"name", "n"});
  CHECK(table.rows == std::vector<Fields>{{"a,b", "1"}, {"c", "2"}});
  CHECK(table.column("n") == 1);
  CHECK(refusal([&] { table.column("d"); }) == "no column 'd'; there are name, n");
  write_text(path, "name,n\n");
  CHECK(read_csv(path).rows.empty());
}

TEST_CASE("csv: a missing, an empty and a ragged file are refused with path and line") {
  const TemporaryFolder folder;
  const std::string path = (folder / "t.csv").string();
  CHECK(refusal([&] { read_csv(path); }) == path + ": cannot be opened: No such file or directory");
  write_text(path, "");
  CHECK(contains(refusal([&] { read_csv(path); }), path + ": is empty"));
  write_text(path, "torn header");
  CHECK(contains(refusal([&] { read_csv(path); }), path + ": is empty"));
  write_text(path, "a,b\n1,2\n3\n4,5\n");
  CHECK(refusal([&] { read_csv(path); }) == path + ": line 3 has 1 fields where the header has 2");
}
