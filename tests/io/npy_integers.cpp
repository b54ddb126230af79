#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/npy_integers.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/files.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

IntegerRows rows_in(const std::string& bytes) {
  return IntegerRows(bytes_in_memory(std::string(bytes), "ids.npy"));
}

template <typename Number>
std::string file_of(const std::string& descr, const std::string& shape, const std::vector<Number>& numbers) {
  return npy_file("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n", bytes_of(numbers));
}

}  // namespace

TEST_CASE("whole numbers in .npy: rows of every type, their smallest and largest numbers") {
  const IntegerRows wide = rows_in(npy_integers("(2, 3)", {1, -2, 3, 4, 5, std::numeric_limits<std::int64_t>::min()}));
  CHECK(wide.rows() == 2);
  CHECK(wide.cols() == 3);
  CHECK(wide.row(0) == std::vector<std::int64_t>{1, -2, 3});
  CHECK(wide.row(1) == std::vector<std::int64_t>{4, 5, std::numeric_limits<std::int64_t>::min()});
  using Row = std::vector<std::int64_t>;
  CHECK(rows_in(file_of<std::int32_t>("<i4", "(2,)", {-2147483647 - 1, 2147483647})).row(0) ==
        Row{-2147483648LL, 2147483647});
  CHECK(rows_in(file_of<std::uint32_t>("<u4", "(2,)", {0, 4294967295U})).row(0) == Row{0, 4294967295LL});
  CHECK(rows_in(file_of<std::uint64_t>("<u8", "(2,)", {0, 9223372036854775807U})).row(0) ==
        Row{0, 9223372036854775807LL});
  CHECK(contains(refusal([] {
                   rows_in(file_of<std::uint64_t>("<u8", "(1, 2)", {0, 1ULL << 63U})).row(0);
                 }),
                 "has 9223372036854775808 in row 0"));
  CHECK(rows_in(file_of<std::int16_t>("<i2", "(2,)", {-32768, 32767})).row(0) == Row{-32768, 32767});
  CHECK(rows_in(file_of<std::uint16_t>("<u2", "(2,)", {0, 65535})).row(0) == Row{0, 65535});
  CHECK(rows_in(file_of<std::int8_t>("|i1", "(2,)", {-128, 127})).row(0) == Row{-128, 127});
  CHECK(rows_in(file_of<std::uint8_t>("|u1", "(2, 1)", {7, 255})).row(1) == Row{255});
  for (const char* shape : {"(2, 1)", "(1, 2)"}) {  // in which the order makes no difference
    const std::string bytes = npy_file(fmt::format("{{'descr': '<i8', 'fortran_order': True, 'shape': {}, }}\n", shape),
                                       bytes_of<std::int64_t>({1, 2}));
    const IntegerRows line = rows_in(bytes);
    CHECK(line.row(line.rows() - 1).back() == 2);
  }
}

TEST_CASE("whole numbers in .npy: a list of numbers of any type, and of any shape, row by row") {
  const TemporaryFolder folder;
  const auto list = [&](const std::string& bytes) {
    write_text(folder / "list.npy", bytes);
    return read_npy_list((folder / "list.npy").string());
  };
  CHECK(identical(list(file_of<std::uint8_t>("|u1", "(3,)", {3, 255, 0})), arma::vec{3, 255, 0}));
  CHECK(identical(list(npy_integers("(2, 2)", {1, -2, 3, 4})), arma::vec{1, -2, 3, 4}));
  CHECK(identical(list(file_of<float>("<f4", "(2,)", {0.5F, -1})), arma::vec{0.5, -1}));
  CHECK(identical(list(file_of<double>("<f8", "(1, 3)", {1, 2, 3})), arma::vec{1, 2, 3}));
  CHECK(identical(list(file_of<double>("<f8", "(2, 2)", {1, -2, 3, 4})), arma::vec{1, -2, 3, 4}));
  CHECK(identical(
      list(npy_file("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 2), }\n", bytes_of<double>({1, -2, 3, 4}))),
      arma::vec{1, 3, -2, 4}));
}

TEST_CASE("whole numbers in .npy: anything else is refused in one line") {
  const std::pair<std::string, std::string> wrong[] = {
      {"ids", "is not an .npy file (wrong magic)"},
      {file_of<double>("<f8", "(2,)", {1, 2}), "dtype '<f8'; save whole numbers, with astype('<i8')"},
      {file_of<std::int64_t>(">i8", "(2,)", {1, 2}), "dtype '>i8'"},
      {npy_integers("()", {1}), "has 0 dimensions"},
      {npy_integers("(1, 1, 2)", {1, 2}), "has 3 dimensions; whole numbers have 1 or 2"},
      {npy_integers("(0, 3)", {}), "has no numbers"},
      {npy_integers("(2, 2)", {1, 2, 3}), "has 24 bytes of data where shape (2, 2) of '<i8' needs another number"},
      {npy_integers("(1, 2)", {1, 2, 3, 4}), "has 32 bytes of data where shape (1, 2) of '<i8' needs another number"},
      {npy_integers("(2,)", {1, 2}) + "x", "has 17 bytes of data"},
      {npy_integers("(9223372036854775807, 4)", {1}), "has 8 bytes of data"},
      {npy_file("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 2), }\n", bytes_of<std::int64_t>({1, 2, 3, 4})),
       "is in Fortran order"},
  };
  for (const auto& [bytes, said] : wrong) {
    CAPTURE_BINDING(said);
    const std::string message = refusal([&, &file = bytes] { rows_in(file); });
    CHECK_MESSAGE(message.find(said) != std::string::npos, message);
    CHECK(message.starts_with("ids.npy: "));
    CHECK(message.find('\n') == std::string::npos);
  }
  CHECK(refusal([] { rows_in(npy_integers("(2,)", {1, 2})).row(1); }).find("row = 1") != std::string::npos);
}
