// MatrixMarket files, right ones and wrong ones: each wrong one is refused with one line that begins with its path.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/matrix_market.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "support/dense.hpp"
#include "support/files.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

std::string banner(const std::string& kind) {
  return "%%MatrixMarket matrix " + kind + "\n";
}

arma::mat parsed(const std::string& kind, const std::string& rest) {
  return parse_matrix_market(banner(kind) + rest, "m.mtx");
}

struct HostileMarket {
  const char* name;
  std::string bytes, message;  // a part of the message
};

std::vector<HostileMarket> hostile_market_files() {
  const std::string general = banner("coordinate real general"), array = banner("array real general"),
                    symmetric = banner("coordinate real symmetric"), skew = banner("coordinate real skew-symmetric"),
                    pattern = banner("coordinate pattern general"), integer = banner("array integer general");
  return {
      {"empty", "", "is not a MatrixMarket file"},
      {"a word", "%%MatrixMark", "is not a MatrixMarket file"},
      {"numpy's", "\x93NUMPY\x01", "is not a MatrixMarket file"},
      {"one percent sign", "%MatrixMarket matrix array real general\n1 1\n1\n", "is not a MatrixMarket file"},
      {"a longer word", "%%MatrixMarkets matrix array real general\n1 1\n1\n", "line 1 is to be"},
      {"no words", "%%MatrixMarket\n1 1\n1\n", "line 1 is to be"},
      {"a vector", "%%MatrixMarket vector array real general\n1 1\n1\n", "line 1 is to be"},
      {"a word too many", "%%MatrixMarket matrix array real general x\n1 1\n1\n", "line 1 is to be"},
      {"another format", banner("dense real general") + "1 1\n1\n", "line 1 has the format 'dense'"},
      {"complex numbers", banner("array complex general") + "1 1\n1 0\n", "line 1 has the field 'complex'"},
      {"a Hermitian matrix", banner("array real Hermitian") + "1 1\n1\n", "line 1 has the symmetry 'hermitian'"},
      {"a pattern as an array", banner("array pattern general") + "1 1\n", "line 1 has a pattern as an array"},
      {"a skew-symmetric pattern", banner("coordinate pattern skew-symmetric") + "2 2 1\n2 1\n", "line 1 has a skew"},
      {"a banner alone", general, "line 1 ends before its sizes"},
      {"a banner without end", "%%MatrixMarket matrix array real general", "line 1 has no end"},
      {"comments alone", general + "% one\n%two\n\n", "line 4 ends before its sizes"},
      {"two sizes of three", general + "2 2\n1 1 1\n", "line 2 is to be the numbers of rows, columns and entries"},
      {"three sizes of two", array + "2 2 4\n1\n2\n3\n4\n", "line 2 is to be the numbers of rows and columns"},
      {"a negative size", array + "-2 2\n1\n", "line 2 has '-2'"},
      {"a fraction as size", array + "2.0 2\n1\n", "line 2 has '2.0'"},
      {"a hexadecimal size", array + "0x2 2\n1\n", "line 2 has '0x2'"},
      {"a size beyond 64 bits", array + "99999999999999999999 1\n1\n", "line 2 has '99999999999999999999'"},
      {"a size beyond LAPACK", array + "2147483648 1\n1\n", "line 2 has '2147483648'"},
      {"a product that wraps to 0", array + "4294967296 4294967296\n", "line 2 has '4294967296'"},
      {"more than memory", general + "2000000000 2000000000 1\n1 1 1\n", "needs 32000000000000000000 bytes"},
      {"more entries than bytes", general + "100000 100000 9999999999\n1 1 1\n", "bytes after it are too few"},
      {"more numbers than bytes", array + "100000 100000\n1\n", "bytes after it are too few"},
      {"more entries than places", general + "2 2 5\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n1 1 1\n",
       "line 2 announces 5 entries where there are 4 places"},
      {"more entries than a triangle has", symmetric + "2 2 4\n1 1 1\n2 1 1\n2 2 1\n1 2 1\n", "there are 3 places"},
      {"a diagonal too many", skew + "2 2 2\n2 1 1\n1 1 1\n", "there are 1 places"},
      {"symmetric and not square", symmetric + "2 3 1\n1 1 1\n", "line 2 has a symmetric matrix of 2 x 3"},
      {"too few entries", general + "2 2 2\n1 1 1.00000\n", "ends after 1 of the 2 entries"},
      {"too few numbers", array + "2 2\n1.0\n2.0\n3.0\n", "ends after 3 of the 4 entries"},
      {"too many entries", general + "2 2 1\n1 1 1\n2 2 1\n", "line 4 has more than the 1 entries"},
      {"a comment at the end", general + "2 2 1\n1 1 1\n% end\n", "line 4 has more than"},
      {"a comment among entries", general + "2 2 1\n% here\n1 1 1\n", "line 3 has 2 words where 3"},
      {"an index 0", general + "2 2 1\n0 1 1\n", "line 3 has the index 0"},
      {"a row too many", general + "2 2 1\n3 1 1\n", "line 3 has '3' where a whole number up to 2"},
      {"a column too many", general + "2 2 1\n1 3 1\n", "line 3 has '3' where a whole number up to 2"},
      {"a negative index", general + "2 2 1\n-1 1 1\n", "line 3 has '-1'"},
      {"an index with a sign", general + "2 2 1\n+1 1 1\n", "line 3 has '+1'"},
      {"an entry twice", general + "2 2 3\n1 2 1\n2 2 1\n1 2 1\n", "line 5 has the entry 1 2 a second time"},
      {"a zero twice", general + "2 2 2\n1 2 0\n1 2 0\n", "line 4 has the entry 1 2 a second time"},
      {"above a symmetric diagonal", symmetric + "2 2 1\n1 2 1\n", "line 3 has the entry 1 2; of a symmetric"},
      {"on a skew diagonal", skew + "3 3 1\n2 2 0\n", "line 3 has the entry 2 2; of a skew-symmetric"},
      {"no number", general + "2 2 1\n1 1\n\n\n", "line 3 has 2 words where 3"},
      {"a number of a pattern", pattern + "2 2 1\n1 1 1\n", "line 3 has 3 words where 2"},
      {"two numbers in a line", array + "2 1\n1 2\n3\n", "line 3 has 2 words where 1"},
      {"NaN", array + "1 1\nnan\n", "line 3 has 'nan' where a finite double"},
      {"Inf", array + "1 1\n-inf\n", "line 3 has '-inf' where a finite double"},
      {"infinity", array + "1 1\n1e400\n", "line 3 has '1e400' where a finite double"},
      {"an exponent of Fortran", array + "1 1\n1.0D+00\n", "line 3 has '1.0D+00'"},
      {"a decimal comma", array + "1 1\n1,5\n", "line 3 has '1,5'"},
      {"a hexadecimal number", array + "1 1\n0x1p3\n", "line 3 has '0x1p3'"},
      {"two signs", array + "1 1\n+-1\n", "line 3 has '+-1'"},
      {"a fraction as integer", integer + "1 1\n1.5\n", "line 3 has '1.5' where a whole number"},
      {"an integer that no double has", integer + "1 1\n9007199254740993\n", "at most 2^53"},
      {"a negative one", integer + "1 1\n-9007199254740993\n", "at most 2^53"},
      {"cut in its last number", array + "1 1\n1.2", "line 3 has no end"},
      {"NUL bytes", array + std::string("1 1\n1\0\n", 7), "line 3 has '1?'"},
      {"a terminal's bytes", array + "1 1\n\x1b[2J\n", "line 3 has '?[2J'"},
      {"a long word", array + "1 1\n" + std::string(5000, '9') + "x\n", "999...' where a finite double"},
  };
}

}  // namespace

TEST_CASE("MatrixMarket: coordinates and arrays, of every field and symmetry, are the matrix that they mean") {
  const std::string three = "% a comment\n\n3 3 4\n";
  CHECK(identical(parsed("coordinate real general", three + "1 1 1.5\n3 2 -2e-3\n2\t3   4\n\n1 3 +0.25\n"),
                  arma::mat{{1.5, 0, 0.25}, {0, 0, 4}, {0, -2e-3, 0}}));
  CHECK(identical(parsed("coordinate integer symmetric", "3 3 3\n1 1 7\n3 1 -2\n3 2 5\n"),
                  arma::mat{{7, 0, -2}, {0, 0, 5}, {-2, 5, 0}}));
  CHECK(identical(parsed("coordinate pattern symmetric", "3 3 2\n2 1\n3 3\n"),
                  arma::mat{{0, 1, 0}, {1, 0, 0}, {0, 0, 1}}));
  CHECK(identical(parsed("coordinate real skew-symmetric", "3 3 2\n2 1 4\n3 2 1e1\n"),
                  arma::mat{{0, -4, 0}, {4, 0, -10}, {0, 10, 0}}));
  CHECK(identical(parsed("coordinate pattern general", "2 3 2\n2 3\n1 1\n"), arma::mat{{1, 0, 0}, {0, 0, 1}}));
  CHECK(identical(parsed("array integer general", "2 1\n9007199254740992\n-9007199254740992\n"),
                  arma::mat(arma::vec{0x1p53, -0x1p53})));
  CHECK(identical(parsed("array real general", "2 3\n1\n2\n3\n4\n5\n6\n"), arma::mat{{1, 3, 5}, {2, 4, 6}}));
  CHECK(identical(parsed("array integer symmetric", "3 3\n1\n2\n3\n4\n5\n6\n"),
                  arma::mat{{1, 2, 3}, {2, 4, 5}, {3, 5, 6}}));
  CHECK(
      identical(parsed("array real skew-symmetric", "3 3\n1\n2\n3\n"), arma::mat{{0, -1, -2}, {1, 0, -3}, {2, 3, 0}}));
  CHECK(identical(parsed("coordinate real general", "2 2 0\n"), arma::mat(2, 2, arma::fill::zeros)));
  CHECK(arma::size(parsed("array real general", "0 5\n")) == arma::size(arma::mat(0, 5)));
  CHECK(arma::size(parsed("coordinate real symmetric", "0 0 0\n")) == arma::size(arma::mat(0, 0)));
  CHECK(arma::size(parsed("array real skew-symmetric", "1 1\n")) == arma::size(arma::mat(1, 1)));
}

TEST_CASE("MatrixMarket: words in capitals, lines of Windows, and every digit of a double") {
  CHECK(identical(parse_matrix_market("%%MatrixMarket MATRIX Array REAL General\r\n1 2\r\n1\r\n2\r\n", "m.mtx"),
                  arma::mat{{1, 2}}));
  const arma::mat m = random_matrix(7, 4, Key(test_seed()).child("mtx"));
  std::string array = "7 4\n", coordinate = "7 4 28\n";
  for (arma::uword j = 0; j < 4; ++j) {
    for (arma::uword i = 0; i < 7; ++i) {
      array += fmt::format("{:.17g}\n", m(i, j));
      coordinate += fmt::format("{} {} {}\n", i + 1, j + 1, m(i, j));
    }
  }
  CHECK(identical(parsed("array real general", array), m));
  CHECK(identical(parsed("coordinate real general", coordinate), m));
  const MatrixMarketSize size = matrix_market_size(banner("array real general") + array, "m.mtx");
  CHECK(size.rows == 7);
  CHECK(size.cols == 4);
}

TEST_CASE("MatrixMarket: hostile files are refused in one line with their path") {
  const TemporaryFolder folder;
  const std::string path = (folder / "hostile.mtx").string();
  for (const HostileMarket& file : hostile_market_files()) {
    CAPTURE(std::string(file.name));
    write_text(path, file.bytes);
    const std::string message = refusal([&] { read_matrix_market(path); });
    CHECK(message.substr(0, path.size() + 2) == path + ": ");
    CHECK_MESSAGE(contains(message, file.message), message);
    CHECK(std::none_of(message.begin(), message.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }));
  }
  CHECK(refusal([&] { read_matrix_market(folder.path().string()); }) ==
        folder.path().string() + ": is a folder, not a file");
  CHECK(refusal([] { read_matrix_market("none.mtx"); }) == "none.mtx: cannot be opened: No such file or directory");
}

TEST_CASE("MatrixMarket: a good file cut after any byte is refused") {
  const std::string good = banner("coordinate real general") + "2 2 3\n1 1 12.5\n1 2 13\n2 2 14\n";
  for (std::size_t size = 0; size < good.size(); ++size) {
    REQUIRE(contains(refusal([&] { parse_matrix_market(good.substr(0, size), "cut.mtx"); }), "cut.mtx: "));
  }
  CHECK(parse_matrix_market(good, "whole.mtx").n_elem == 4);
}
