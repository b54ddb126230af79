// NumPy's .npy files.
#pragma once

#include <armadillo>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// A matrix from an .npy file: format versions 1 to 3, little-endian float16, float32 or float64, C or Fortran order,
/// two dimensions.
/// Throws std::invalid_argument with one line that names the file and what would do: not an .npy file, another type or
/// number of dimensions, truncated, trailing bytes, sizes that overflow. Nothing is allocated before the file is known
/// to be long enough.
arma::mat read_npy(const std::string& path);

/// The matrices of an .npy file of two dimensions, which has one, or of three, (heads, n, p). Throws as read_npy.
std::vector<arma::mat> read_npy_heads(const std::string& path);

/// The same from the bytes of a file; `name` stands in the messages.
std::vector<arma::mat> parse_npy(std::string_view bytes, const std::string& name);

/// Sizes of the matrix in an .npy file; its header alone is read. Throws as read_npy.
struct NpySize {
  arma::uword rows = 0, cols = 0;
};
NpySize npy_size(const std::string& path);

/// Rows first ... first + count - 1 of the matrix in an .npy file; no others are read. Memory: those rows, and the
/// same again in the type of the file. Throws as read_npy, and for rows that the file does not have.
arma::mat read_npy_rows(const std::string& path, arma::uword first, arma::uword count);

/// Writes float64 in Fortran order, format version 1. Throws std::runtime_error when the file cannot be written.
void write_npy(const std::string& path, const arma::mat& matrix);

}  // namespace croquis
