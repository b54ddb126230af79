// NumPy's .npy files.
#pragma once

#include <armadillo>
#include <croquis/io/stored_array.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace croquis {

/// The array in an .npy file, of which only the header is read. Supported are format versions 1 to 3, little-endian
/// float16, float32, float64 or bfloat16, and C or Fortran order. NumPy has no bfloat16: it writes that of ml_dtypes as
/// two bytes without a meaning, dtype '|V2' or '<V2', which is read as bfloat16.
/// Throws: std::invalid_argument as read_npy and StoredArray.
StoredArray npy_array(const SharedBytes& source);

/// The matrix in an .npy file of two dimensions, or of more with a single head.
/// Throws: std::invalid_argument for a file that is not an .npy file, another type or number of dimensions, a truncated
///   file, trailing bytes, and sizes that overflow. The message is one line that names the file and says what would be
///   accepted. Memory is allocated only after the file is known to be long enough.
arma::mat read_npy(const std::string& path);

/// The same, or the vector in a file of one dimension, as a column.
arma::mat read_npy_or_vector(const std::string& path);

/// The matrices in an .npy file: one for two dimensions, and one for each head for three, (heads, n, p), or four,
/// (batch, heads, n, p). Throws as read_npy.
std::vector<arma::mat> read_npy_heads(const std::string& path);

/// The same from the bytes of a file. `name` is used in messages.
std::vector<arma::mat> parse_npy(std::string_view bytes, const std::string& name);

/// The sizes of the matrix in an .npy file, of which only the header is read. Throws as read_npy.
struct NpySize {
  arma::uword rows = 0, cols = 0;
};
NpySize npy_size(const std::string& path);

/// Rows first ... first + count - 1 of the matrix in an .npy file (count x p). Only these rows are read. Memory: these
/// rows, and the same again in the type of the file. Throws as read_npy, and for rows that the file does not have.
arma::mat read_npy_rows(const std::string& path, arma::uword first, arma::uword count);

/// An .npy file as bytes: float64 in Fortran order, format version 1.
std::string npy_bytes(const arma::mat& matrix);

/// Writes float64 in Fortran order, format version 1. Throws std::runtime_error if the file cannot be written.
void write_npy(const std::string& path, const arma::mat& matrix);

}  // namespace croquis
