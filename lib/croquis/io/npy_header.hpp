// The dictionary in the header of an .npy file. Not installed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

struct NpyHeader {
  std::string descr;  ///< of a simple type, such as <f8
  bool fortran = false;
  std::vector<std::uint64_t> shape;
};

/// Reads a subset of what NumPy reads, which evaluates the header as a literal of Python: a dictionary with the keys
/// descr, fortran_order and shape, each once, in any order; strings in quotes of either kind, without escapes; True or
/// False; a tuple of decimal numbers, commas as Python wants them; white space between. `long_sizes`: a number may end
/// in L, as NumPy with Python 2 wrote it in format versions 1 and 2.
/// Throws std::invalid_argument in one line that begins with `name`.
NpyHeader parse_npy_header(std::string_view text, bool long_sizes, const std::string& name);

}  // namespace croquis
