#include <doctest/doctest.h>
#include <croquis/io/npy.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "support/dense.hpp"
#include "support/files.hpp"
#include "support/matrices.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

std::string dictionary(const std::string& descr, bool fortran, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

arma::mat read(const TemporaryFolder& folder, const std::string& bytes) {
  write_text(folder / "m.npy", bytes);
  return read_npy((folder / "m.npy").string());
}

}  // namespace

TEST_CASE("npy: what is written is read again, to the bit, with all kinds of numbers") {
  const TemporaryFolder folder;
  const std::string path = (folder / "m.npy").string();
  const std::pair<arma::uword, arma::uword> sizes[] = {{1, 1}, {3, 5}, {5, 3}, {1, 100}, {200, 1}, {0, 4}, {4, 0}};
  for (const auto& [rows, cols] : sizes) {
    const arma::mat m = random_matrix(rows, cols, Key(test_seed()).child(rows));
    write_npy(path, m);
    CHECK(identical(read_npy(path), m));
  }
  using limits = std::numeric_limits<double>;
  const arma::rowvec special = {0.0,
                                -0.0,
                                limits::infinity(),
                                -limits::infinity(),
                                limits::quiet_NaN(),
                                limits::max(),
                                limits::denorm_min(),
                                limits::lowest()};
  write_npy(path, special);
  const arma::mat back = read_npy(path);
  REQUIRE(arma::size(back) == arma::SizeMat(1, 8));
  CHECK(std::memcmp(back.memptr(), special.memptr(), 8 * sizeof(double)) == 0);  // NOLINT: bits, those of NaN too
}

TEST_CASE("npy: a written file has the format's header, padded to 64 bytes") {
  const TemporaryFolder folder;
  write_npy((folder / "m.npy").string(), arma::mat{{1, 2, 3}, {4, 5, 6}});
  const std::string bytes = read_text(folder / "m.npy");
  CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(contains(bytes, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }"));
  const std::size_t header =
      static_cast<unsigned char>(bytes[8]) + std::size_t{256} * static_cast<unsigned char>(bytes[9]);
  CHECK((10 + header) % 64 == 0);
  CHECK(bytes[10 + header - 1] == '\n');
  CHECK(bytes.size() == 10 + header + 48);  // six numbers
}

TEST_CASE("npy: float64, float32 and float16 in C and in Fortran order, format versions 1 to 3") {
  const TemporaryFolder folder;
  const arma::mat expected = {{1, 2, 3}, {-4, 0.5, 6}};
  const std::vector<double> c_order = {1, 2, 3, -4, 0.5, 6}, fortran_order = {1, -4, 2, 0.5, 3, 6};
  const std::vector<float> c_single(c_order.begin(), c_order.end()),
      f_single(fortran_order.begin(), fortran_order.end());
  // float16: sign, 5 bits of exponent with bias 15, 10 of fraction.
  const std::vector<std::uint16_t> c_half = {0x3c00, 0x4000, 0x4200, 0xc400, 0x3800, 0x4600},
                                   f_half = {0x3c00, 0xc400, 0x4000, 0x3800, 0x4200, 0x4600};
  for (const int version : {1, 2, 3}) {
    CAPTURE(version);
    const auto file = [&](const std::string& descr, bool fortran, const std::string& data) {
      return npy_file(dictionary(descr, fortran, "(2, 3)"), data, version);
    };
    CHECK(identical(read(folder, file("<f8", false, bytes_of(c_order))), expected));
    CHECK(identical(read(folder, file("<f8", true, bytes_of(fortran_order))), expected));
    CHECK(identical(read(folder, file("<f4", false, bytes_of(c_single))), expected));
    CHECK(identical(read(folder, file("<f4", true, bytes_of(f_single))), expected));
    CHECK(identical(read(folder, file("<f2", false, bytes_of(c_half))), expected));
    CHECK(identical(read(folder, file("<f2", true, bytes_of(f_half))), expected));
  }
}

TEST_CASE("npy: every kind of float16") {
  const TemporaryFolder folder;
  const std::vector<std::uint16_t> bits = {0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x3555,
                                           0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00};
  const arma::mat m = read(folder, npy_file(dictionary("<f2", false, "(1, 11)"), bytes_of(bits)));
  // 1/3 is 0x3555 = (1 + 341/1024) / 4; the largest is (2 - 2^-10) 2^15; the smallest 2^-24.
  const std::vector<double> expected = {
      0,     -0.0,   std::ldexp(1, -24), std::ldexp(1023, -24), std::ldexp(1, -14), 0.333251953125,
      65504, -65504, arma::datum::inf,   -arma::datum::inf};
  for (arma::uword i = 0; i < expected.size(); ++i) CHECK(m(0, i) == expected[i]);
  CHECK(std::signbit(m(0, 1)));
  CHECK(std::isnan(m(0, 10)));
}

TEST_CASE("npy: headers are read with any spacing, quotes and order of keys") {
  const TemporaryFolder folder;
  const std::string data = bytes_of(std::vector<double>{1, 2});
  for (const char* text : {"{'descr':'<f8','fortran_order':False,'shape':(1,2)}",
                           "{'shape': (1, 2), 'fortran_order': False, 'descr': '<f8'}",
                           R"({"descr": "<f8", "fortran_order": False, "shape": (1, 2,)})",
                           "{'descr' :  '<f8' , 'fortran_order' : False , 'shape' : ( 1 , 2 ) } "}) {
    CAPTURE(text);
    CHECK(identical(read(folder, npy_file(text, data)), arma::mat(arma::rowvec{1, 2})));
  }
}

TEST_CASE("npy: an empty matrix of any size is read at once") {
  const TemporaryFolder folder;
  for (const char* shape : {"(0, 5)", "(5, 0)", "(0, 0)", "(0, 1152921504606846976)", "(1152921504606846976, 0)"}) {
    CAPTURE(shape);
    CHECK(read(folder, npy_file(dictionary("<f8", false, shape), "")).is_empty());
  }
}

TEST_CASE("npy: a file that cannot be written is a runtime_error with its path") {
  const TemporaryFolder folder;
  const std::string path = (folder / "no such folder" / "m.npy").string();
  CHECK(refusal<std::runtime_error>([&] { write_npy(path, arma::mat(2, 2, arma::fill::ones)); }) ==
        path + ": cannot be written");
}

TEST_CASE("npy: a range of rows is that of the whole, in both orders and all types; the size is read alone") {
  const TemporaryFolder folder;
  const std::string path = (folder / "m.npy").string();
  std::vector<double> numbers;
  std::vector<float> singles;
  for (int i = 0; i < 7 * 3; ++i) {
    numbers.push_back(i + 0.25);
    singles.push_back(static_cast<float>(i) - 0.5F);
  }
  for (const bool fortran : {false, true}) {
    for (const bool single : {false, true}) {
      write_text(path, npy_file(dictionary(single ? "<f4" : "<f8", fortran, "(7, 3)"),
                                single ? bytes_of(singles) : bytes_of(numbers)));
      CHECK(npy_size(path).rows == 7);
      CHECK(npy_size(path).cols == 3);
      const arma::mat whole = read_npy(path);
      for (const auto& [first, count] :
           std::vector<std::pair<arma::uword, arma::uword>>{{0, 7}, {0, 1}, {2, 4}, {6, 1}}) {
        CHECK(identical(read_npy_rows(path, first, count), arma::mat(whole.rows(first, first + count - 1))));
      }
      CHECK(read_npy_rows(path, 7, 0).n_cols == 3);
    }
  }
  CHECK_THROWS_AS(read_npy_rows(path, 5, 3), std::invalid_argument);
  CHECK_THROWS_AS(read_npy_rows(path, 8, 0), std::invalid_argument);
  write_text(path, npy_file(dictionary("<f8", false, "(2, 7, 3)"), bytes_of(numbers) + bytes_of(numbers)));
  CHECK_THROWS_WITH_AS(npy_size(path), doctest::Contains("3 dimensions"), std::invalid_argument);
  write_text(path, npy_file(dictionary("<f8", false, "(7, 4)"), bytes_of(numbers)));
  CHECK_THROWS_WITH_AS(read_npy_rows(path, 0, 1), doctest::Contains("168 bytes"), std::invalid_argument);
  CHECK_THROWS_AS(npy_size((folder / "none.npy").string()), std::invalid_argument);
}

TEST_CASE("npy: rows of a matrix without numbers are read at once, however many columns or rows it claims") {
  const TemporaryFolder folder;
  const std::string path = (folder / "m.npy").string();
  constexpr arma::uword many = arma::uword{1} << 60;
  for (const bool fortran : {false, true}) {
    write_text(path, npy_file(dictionary("<f8", fortran, "(0, 1152921504606846976)"), ""));
    CHECK(read_npy_rows(path, 0, 0).n_cols == many);
    write_text(path, npy_file(dictionary("<f8", fortran, "(1152921504606846976, 0)"), ""));
    CHECK(read_npy_rows(path, 5, many - 5).n_rows == many - 5);
  }
}

TEST_CASE("npy: a vector is read as a column where one is taken, and refused where a matrix is") {
  const TemporaryFolder folder;
  const std::string bytes = npy_file(dictionary("<f8", false, "(3,)") + "\n", bytes_of<double>({1, 2, 4}));
  CHECK(contains(refusal([&] { read(folder, bytes); }), "has 1 dimension;"));
  CHECK(identical(read_npy_or_vector((folder / "m.npy").string()), arma::mat(arma::vec{1, 2, 4})));
  write_npy((folder / "m.npy").string(), arma::mat{{1, 2}, {3, 4}});
  CHECK(identical(read_npy_or_vector((folder / "m.npy").string()), arma::mat{{1, 2}, {3, 4}}));
  write_text(folder / "m.npy", npy_file(dictionary("<f8", false, "()") + "\n", bytes_of<double>({1})));
  CHECK(contains(refusal([&] { read_npy_or_vector((folder / "m.npy").string()); }), "has 0 dimensions"));
  write_text(folder / "m.npy", npy_file(dictionary("<f8", false, "(3,)") + "\n", bytes_of<double>({1, 2})));
  CHECK(contains(refusal([&] { read_npy_or_vector((folder / "m.npy").string()); }), "has 16 bytes of data"));
}
