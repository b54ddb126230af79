// The dictionary in the header of an .npy file. Not installed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

struct NpyHeader {
  std::string descr;  ///< a simple type, such as <f8
  bool fortran = false;
  std::vector<std::uint64_t> shape;
};

/// Reads a subset of what NumPy reads (NumPy evaluates the header as a Python literal). The header is a dictionary with
/// the keys descr, fortran_order and shape, each once, in any order. descr is a string in quotes of either kind without
/// escapes, fortran_order is True or False, and shape is a tuple of decimal numbers with commas as in Python. White
/// space is allowed in between. With `long_sizes` a number may end in L, as NumPy with Python 2 wrote it in format
/// versions 1 and 2.
/// Throws: std::invalid_argument with one line that begins with `name`.
NpyHeader parse_npy_header(std::string_view text, bool long_sizes, const std::string& name);

/// The part of an .npy file before the numbers: magic, version, header.
struct NpyStart {
  NpyHeader header;
  std::uint64_t data = 0;  ///< where the numbers begin
};

/// The maximum length of a header, which is NumPy's limit, and of all that precedes the numbers, in bytes.
inline constexpr std::uint32_t kLongestNpyHeader = 10'000;
inline constexpr std::size_t kLongestNpyStart = 12 + kLongestNpyHeader;

/// Reads it from the first kLongestNpyStart bytes of a file, or from all if there are fewer. Throws as
/// parse_npy_header, and for a file that is not an .npy file or has a version other than 1.0, 2.0 and 3.0.
NpyStart parse_npy_start(std::string_view begin, const std::string& name);

}  // namespace croquis
