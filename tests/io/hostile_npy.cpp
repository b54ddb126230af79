// Files that are no matrices: each is refused with one line that begins with its path, and says what is wrong.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <croquis/io/npy.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "support/files.hpp"
#include "support/npy_files.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

const std::string kSix = bytes_of(std::vector<double>{1, 2, 3, 4, 5, 6});

std::string header(const std::string& descr, const std::string& order, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

std::string of_shape(const std::string& shape) {
  return npy_file(header("'<f8'", "False", shape), kSix);
}
std::string of_type(const std::string& descr) {
  return npy_file(header(descr, "False", "(2, 3)"), kSix);
}

struct Hostile {
  const char* name;
  std::string bytes, message;  // a part of the message
};

std::vector<Hostile> hostile_files() {
  const std::string good = of_shape("(2, 3)");
  std::string version_9 = good, version_1_234 = good,
              long_header = npy_file(header("'<f8'", "False", "(2, 3)"), kSix, 2), other_magic = good;
  version_9[6] = 9;
  version_1_234[7] = '\xea';
  long_header[11] = '\x7f';  // 2 GB
  other_magic[0] = '\x94';
  return {
      {"empty", "", "wrong magic"},
      {"one byte", "\x93", "wrong magic"},
      {"text", "1.0, 2.0\n3.0, 4.0\n", "wrong magic"},
      {"a zip archive, as .npz is", "PK\x03\x04 and more", "wrong magic"},
      {"another first byte", other_magic, "wrong magic"},
      {"version 0", npy_file("{}", "", 0), "format version 0"},
      {"version 1.234", version_1_234, "format version 1.234"},
      {"version 9", version_9, "format version 9"},
      {"cut in the magic", good.substr(0, 5), "wrong magic"},
      {"cut in the header's length", good.substr(0, 9), "truncated in its header"},
      {"cut in the header", good.substr(0, 40), "truncated in its header"},
      {"cut in the data", good.substr(0, good.size() - 1), "47 bytes of data"},
      {"no data", good.substr(0, good.size() - 48), "0 bytes of data"},
      {"trailing bytes", good + "x", "49 bytes of data"},
      {"a header of 2 GB", long_header, "has a header of"},
      {"a header without end", npy_file("{'descr': '<f8'", "", 2).substr(0, 20), "truncated in its header"},
      {"no header", npy_file("", kSix), "damaged (no dictionary)"},
      {"a header of NUL bytes", npy_file(std::string(64, '\0'), kSix), "damaged (no dictionary)"},
      {"no key", npy_file("{}", kSix), "has no 'descr'"},
      {"no dictionary", npy_file("descr fortran_order shape", kSix), "damaged (no dictionary)"},
      {"no order", npy_file("{'descr': '<f8', 'shape': (2, 3)}", kSix), "has no 'fortran_order'"},
      {"no shape", npy_file("{'descr': '<f8', 'fortran_order': False}", kSix), "has no 'shape'"},
      {"a key without value", npy_file("{'fortran_order': False, 'shape': (2, 3), 'descr'", kSix),
       "damaged (no colon after 'descr')"},
      {"a key and its colon", npy_file("{'fortran_order': False, 'shape': (2, 3), 'descr':   ", kSix),
       "damaged (dtype)"},
      {"an open quote", npy_file("{'fortran_order': False, 'shape': (2, 3), 'descr': '<f8", kSix), "damaged (dtype)"},
      {"order 1", npy_file(header("'<f8'", "1", "(2, 3)"), kSix), "damaged (order)"},
      {"order in lower case", npy_file(header("'<f8'", "false", "(2, 3)"), kSix), "damaged (order)"},
      {"a list as shape", of_shape("[2, 3]"), "damaged (shape)"},
      {"an open parenthesis", npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3", kSix),
       "damaged (shape)"},
      {"letters as sizes", of_shape("(two, 3)"), "damaged (shape)"},
      {"a fraction as size", of_shape("(2.0, 3)"), "damaged (shape)"},
      {"a hexadecimal size", of_shape("(0x2, 3)"), "damaged (shape)"},
      {"a negative size", of_shape("(-2, 3)"), "damaged (shape)"},
      {"two negative sizes", of_shape("(-2, -3)"), "damaged (shape)"},
      {"a size beyond 64 bits", of_shape("(99999999999999999999, 1)"), "damaged (shape)"},
      {"a product beyond 64 bits", of_shape("(4294967296, 4294967296)"), "more than 2^64"},
      {"a product that wraps to 6", of_shape("(9223372036854775811, 2)"), "more than 2^64"},
      {"bytes that wrap to 48", of_shape("(2305843009213693954, 3)"), "more than 2^64"},
      {"more than memory", of_shape("(1000000000, 1000000000)"), "48 bytes of data"},
      {"no dimension", of_shape("()"), "has 0 dimensions"},
      {"one dimension", of_shape("(6,)"), "has 1 dimension;"},
      {"five dimensions", of_shape("(1, 1, 1, 2, 3)"), "has 5 dimensions"},
      {"an empty size with data", of_shape("(0, 3)"), "48 bytes of data"},
      {"big-endian", of_type("'>f8'"), "big-endian"},
      {"objects", of_type("'|O'"), "dtype '|O'"},
      {"integers", of_type("'<i8'"), "dtype '<i8'"},
      {"booleans", of_type("'|b1'"), "dtype '|b1'"},
      {"complex numbers", of_type("'<c16'"), "dtype '<c16'"},
      {"long doubles", of_type("'<f16'"), "dtype '<f16'"},
      {"strings", of_type("'<U6'"), "dtype '<U6'"},
      {"an empty dtype", of_type("''"), "dtype ''"},
      {"a structure", of_type("[('x', '<f8')]"), "structured dtype"},
      {"a dtype of 9,000 bytes", of_type("'" + std::string(9000, 'f') + "'"), "ffff...'; save"},
      {"a dtype that writes from right to left", of_type("'\u202ef8\u009b'"),
       "f8?"
       "?'; save"},
      {"a dtype with line breaks", of_type("'<f8\n\x1b[2J'"), "dtype"},
  };
}

}  // namespace

TEST_CASE("read_npy: hostile files are refused in one line with their path") {
  const TemporaryFolder folder;
  const std::string path = (folder / "hostile.npy").string();
  for (const Hostile& file : hostile_files()) {
    CAPTURE(std::string(file.name));
    write_text(path, file.bytes);
    const std::string message = refusal([&] { read_npy(path); });
    CHECK(message.substr(0, path.size() + 2) == path + ": ");
    CHECK_MESSAGE(contains(message, file.message), message);
    CHECK(std::none_of(message.begin(), message.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }));
  }
}

TEST_CASE(
    "read_npy: a good file cut after any byte, or with any byte of its header damaged, is refused or read, never "
    "worse") {
  const TemporaryFolder folder;
  const std::string path = (folder / "cut.npy").string(), good = of_shape("(2, 3)");
  for (std::size_t size = 0; size < good.size(); ++size) {
    write_text(path, good.substr(0, size));
    REQUIRE(contains(refusal([&] { read_npy(path); }), path));
  }
  for (std::size_t at = 0; at + 48 < good.size(); ++at) {
    for (const char damage : {'\0', '\xff', '9', '(', '\''}) {
      std::string bytes = good;
      bytes[at] = damage;
      write_text(path, bytes);
      try {
        const arma::mat m = read_npy(path);
        REQUIRE(m.n_elem == 6);  // a space in the header was hit
      } catch (const std::invalid_argument& refused) {
        REQUIRE(contains(refused.what(), path));
      }
    }
  }
}

TEST_CASE("read_npy: what is no file is refused with its path") {
  const TemporaryFolder folder;
  const auto message = [](const std::string& path) { return refusal([&] { read_npy(path); }); };
  const std::string missing = (folder / "missing.npy").string(), inside = (folder / "none" / "m.npy").string(),
                    pipe = (folder / "pipe.npy").string();
  CHECK(message(missing) == missing + ": cannot be opened: No such file or directory");
  CHECK(message(inside) == inside + ": cannot be opened: No such file or directory");
  CHECK(message("") == ": cannot be opened: No such file or directory");
  CHECK(message(folder.path().string()) == folder.path().string() + ": is a folder, not a file");
  CHECK(message("/dev/null") == "/dev/null: is not a regular file");
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(message(pipe) == pipe + ": is not a regular file");  // and does not wait for a writer
}
