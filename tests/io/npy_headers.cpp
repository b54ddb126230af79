// Headers of .npy files of every kind that comes to mind, with what NumPy does with them: NumPy's own numpy.load
// (1.24.2) has read each. What it refuses is refused; what is refused beyond that is marked so.
#include <doctest/doctest.h>
#include <croquis/io/npy.hpp>
#include <croquis/io/npy_header.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "support/npy_files.hpp"
#include "support/refusal.hpp"

using namespace croquis;

namespace {

enum class NumPy { refuses, reads, reads_columns };  // columns: Fortran order
using enum NumPy;

// Of a file with the numbers 1 to 6. `stricter`: refused all the same, for NumPy evaluates Python's expressions, knows
// more types, and takes the last of equal keys.
struct Kind {
  const char* name;
  std::string header;
  NumPy numpy = refuses;
  bool stricter = false;
};
constexpr bool stricter = true;

const std::string kPlain = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";

std::string descr(const std::string& value) {
  return "{'descr': " + value + ", 'fortran_order': False, 'shape': (2, 3), }";
}
std::string order(const std::string& value) {
  return "{'descr': '<f8', 'fortran_order': " + value + ", 'shape': (2, 3), }";
}
std::string shape(const std::string& value) {
  return "{'descr': '<f8', 'fortran_order': False, 'shape': " + value + ", }";
}

const std::vector<Kind> kDictionaries = {
    {"as NumPy writes it", kPlain, reads},
    {"padded with spaces and a line end", kPlain + "      \n", reads},
    {"no spaces", "{'descr':'<f8','fortran_order':False,'shape':(2,3)}", reads},
    {"spaces everywhere", "{ 'descr' : '<f8' , 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , }  ", reads},
    {"tabs", "{\t'descr':\t'<f8',\t'fortran_order':\tFalse,\t'shape':\t(2,\t3)\t}\t", reads},
    {"line ends between", "{\n'descr':\n'<f8',\r\n'fortran_order':\nFalse,\n'shape':\n(2,\n3),\n}\n", reads},
    {"form feeds", "{'descr':\f'<f8', 'fortran_order': False, 'shape': (2, 3)}\f", reads},
    {"another order of keys", "{'shape': (2, 3), 'descr': '<f8', 'fortran_order': True}", reads_columns},
    {"double quotes", "{\"descr\": \"<f8\", \"fortran_order\": False, \"shape\": (2, 3)}", reads},
    {"a quote of either kind", "{'descr\": '<f8', 'fortran_order': False, 'shape': (2, 3)}"},
    {"spaces before", " \t " + kPlain, reads},
    {"a line end before", "\n" + kPlain, reads, stricter},
    {"a space in a key", "{'descr ': '<f8', 'fortran_order': False, 'shape': (2, 3)}"},
    {"no comma between keys", "{'descr': '<f8' 'fortran_order': False, 'shape': (2, 3)}"},
    {"no comma after the order", "{'descr': '<f8', 'fortran_order': False 'shape': (2, 3)}"},
    {"two commas between keys", "{'descr': '<f8',, 'fortran_order': False, 'shape': (2, 3)}"},
    {"two commas at the end", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3),,}"},
    {"a comma first", "{, 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}"},
    {"semicolons", "{'descr': '<f8'; 'fortran_order': False; 'shape': (2, 3)}"},
    {"no braces", "'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)"},
    {"no brace first", "'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}"},
    {"no brace at the end", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)"},
    {"two braces", "{{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}}"},
    {"parentheses around", "({'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)})", reads, stricter},
    {"brackets", "['descr', '<f8', 'fortran_order', False, 'shape', (2, 3)]"},
    {"a call", "dict(descr='<f8', fortran_order=False, shape=(2, 3))"},
    {"a letter after", kPlain + " x"},
    {"a brace after", kPlain + "}"},
    {"a second dictionary", kPlain + " " + kPlain},
    {"a comma after", kPlain + ","},
    {"a comment after", kPlain + " # numbers", reads, stricter},
    {"a comment inside", "{'descr': '<f8', # eight bytes\n'fortran_order': False, 'shape': (2, 3)}", reads, stricter},
    {"a NUL after", kPlain + std::string(1, '\0')},
    {"NULs as padding", kPlain + std::string(8, '\0')},
    {"a vertical tab after", kPlain + "\v"},
    {"another character after", kPlain + "\377"},
    {"no colon", "{'descr' '<f8', 'fortran_order': False, 'shape': (2, 3)}"},
    {"two colons", "{'descr':: '<f8', 'fortran_order': False, 'shape': (2, 3)}"},
    {"an equals sign", "{'descr'= '<f8', 'fortran_order': False, 'shape': (2, 3)}"},
    {"keys without quotes", "{descr: '<f8', fortran_order: False, shape: (2, 3)}"},
    {"descr twice", "{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", reads, stricter},
    {"order twice", "{'descr': '<f8', 'fortran_order': True, 'fortran_order': False, 'shape': (2, 3)}", reads,
     stricter},
    {"shape twice", "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), 'shape': (2, 3)}", reads, stricter},
    {"another key", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'version': 1}"},
    {"another key with a text", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'name': 'q'}"},
    {"a number as another key", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 1: 1}"},
    {"a key in capitals", "{'Descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}"},
    {"a key as a value", "{'x': 'descr', 'y': '<f8', 'fortran_order': False, 'shape': (2, 3)}"},
    {"no descr", "{'fortran_order': False, 'shape': (2, 3)}"},
    {"no order", "{'descr': '<f8', 'shape': (2, 3)}"},
    {"no shape", "{'descr': '<f8', 'fortran_order': False}"},
    {"an empty dictionary", "{}"},
    {"nothing", ""},
    {"spaces alone", "   \n"},
};

const std::vector<Kind> kOrders = {
    {"Fortran order", order("True"), reads_columns},
    {"Falsehood", order("Falsehood")},
    {"Trueish", order("Trueish")},
    {"false", order("false")},
    {"FALSE", order("FALSE")},
    {"order 0", order("0")},
    {"order 1", order("1")},
    {"order None", order("None")},
    {"order in quotes", order("'False'")},
    {"not True", order("not True")},
    {"order missing", order("")},
};

const std::vector<Kind> kTypes = {
    {"no quotes around the type", descr("<f8")},
    {"three quotes", descr("'''<f8'''"), reads, stricter},
    {"two strings", descr("'<f' '8'"), reads, stricter},
    {"a string of bytes", descr("b'<f8'")},
    {"a Unicode string", descr("u'<f8'"), reads, stricter},
    {"a raw string", descr("r'<f8'"), reads, stricter},
    {"an escape", descr("'\\x3cf8'"), reads, stricter},
    {"parentheses around the type", descr("('<f8')"), reads, stricter},
    {"a line end in the type", descr("'<f8\n'")},
    {"a space in the type", descr("'<f8 '")},
    {"an open quote", descr("'<f8")},
    {"f8", descr("'f8'"), reads, stricter},
    {"=f8", descr("'=f8'"), reads, stricter},
    {"float64", descr("'float64'"), reads, stricter},
    {"double", descr("'d'"), reads, stricter},
    {"big-endian", descr("'>f8'"), reads, stricter},
    {"a structure", descr("[('x', '<f8')]"), reads, stricter},
    {"a type as a number", descr("8")},
    {"None as a type", descr("None")},
    {"an array as a type", descr("('<f8', (1,))"), reads, stricter},
};

const std::vector<Kind> kShapes = {
    {"a comma in the tuple's end", shape("(2, 3,)"), reads},
    {"a list", shape("[2, 3]")},
    {"a set", shape("{2, 3}")},
    {"no parentheses", shape("2, 3")},
    {"a number in parentheses", shape("(6)")},
    {"a tuple in a tuple", shape("((2, 3))"), reads, stricter},
    {"nested tuples", shape("((2, 3),)")},
    {"an open tuple", shape("(2, 3")},
    {"a comma first in the tuple", shape("(, 2, 3)")},
    {"two commas in the tuple", shape("(2,, 3)")},
    {"two commas at the tuple's end", shape("(2, 3,,)")},
    {"no comma in the tuple", shape("(2 3)")},
    {"a comma alone", shape("(,)")},
    {"a negative size", shape("(-2, -3)")},
    {"a plus", shape("(+2, 3)"), reads, stricter},
    {"a fraction", shape("(2.0, 3)")},
    {"a size in quotes", shape("('2', 3)")},
    {"leading zeros", shape("(02, 3)")},
    {"hexadecimal", shape("(0x2, 3)"), reads, stricter},
    {"an underscore", shape("(0_2, 3)")},
    {"an exponent", shape("(2e0, 3)")},
    {"True as a size", shape("(True, 6)")},
    {"a sum", shape("(1 + 1, 3)")},
    {"None as a size", shape("(None, 3)")},
    {"L, of Python 2", shape("(2L, 3L)"), reads},
    {"l", shape("(2l, 3l)")},
    {"L after a space", shape("(2 L, 3 L)"), reads, stricter},
    {"L twice", shape("(2LL, 3)")},
    {"beyond 64 bits", shape("(18446744073709551618, 3)")},
    {"a product that wraps", shape("(9223372036854775811, 2)")},
};

std::string file_of(const std::string& header, int version = 1, int minor = 0) {
  std::string file = npy_file(header, bytes_of(std::vector<double>{1, 2, 3, 4, 5, 6}), version);
  file[7] = static_cast<char>(minor);
  return file;
}

// What NumPy does, or a refusal in one line.
void check(const std::string& file, NumPy expected) {
  if (expected == refuses) {
    const std::string message = refusal([&] { parse_npy(file, "m.npy"); });
    CHECK_MESSAGE(message.starts_with("m.npy: "), message);
    CHECK(std::none_of(message.begin(), message.end(), [](char c) { return c < ' ' || c > '~'; }));
    return;
  }
  arma::mat matrix;
  REQUIRE_NOTHROW(matrix = parse_npy(file, "m.npy").front());
  const arma::mat wanted = expected == reads ? arma::mat{{1, 2, 3}, {4, 5, 6}} : arma::mat{{1, 3, 5}, {2, 4, 6}};
  REQUIRE(arma::size(matrix) == arma::size(wanted));
  CHECK(arma::all(arma::vectorise(matrix == wanted)));
}

}  // namespace

TEST_CASE("npy headers: what NumPy refuses is refused, what it writes is read, and the rest as the table says") {
  for (const auto* kinds : {&kDictionaries, &kOrders, &kTypes, &kShapes}) {
    for (const Kind& kind : *kinds) {
      CAPTURE(std::string(kind.name));
      check(file_of(kind.header), kind.stricter ? refuses : kind.numpy);
    }
  }
}

TEST_CASE("npy headers: a number in parentheses is no shape of one dimension") {
  CHECK(parse_npy_header(shape("(6,)"), false, "m.npy").shape == std::vector<std::uint64_t>{6});
  CHECK(refusal([] { parse_npy_header(shape("(6)"), false, "m.npy"); }) == "m.npy: the .npy header is damaged (shape)");
}

TEST_CASE("npy headers: format versions 1.0, 2.0 and 3.0 and no others") {
  for (int version = 0; version < 256; ++version) {
    CAPTURE(version);
    for (const int minor : {0, 1, 2, 234, 255}) {
      check(file_of(kPlain, version, minor), version >= 1 && version <= 3 && minor == 0 ? reads : refuses);
    }
  }
}

TEST_CASE("npy headers: sizes with the L of Python 2 are read in versions 1 and 2, as NumPy does") {
  check(file_of(shape("(2L, 3L)"), 1), reads);
  check(file_of(shape("(2L, 3L)"), 2), reads);
  check(file_of(shape("(2L, 3L)"), 3), refuses);
}

TEST_CASE("npy headers: at most 10,000 bytes, as NumPy") {
  for (const int version : {1, 2, 3}) {
    const auto padded = [&](std::size_t size) {
      return file_of(kPlain + std::string(size - kPlain.size(), ' '), version);
    };
    check(padded(10'000), reads);
    check(padded(10'001), refuses);
    check(padded(60'000), refuses);
  }
  check(file_of(std::string(10'000, '(')), refuses);
  check(file_of(shape(std::string(9'000, '('))), refuses);
}
