// NumPy's .npy files.
#pragma once

#include <armadillo>
#include <string>

namespace croquis {

/// A matrix from an .npy file: format versions 1 to 3, little-endian float16, float32 or float64, C or Fortran order,
/// two dimensions.
/// Throws std::invalid_argument with one line that names the file and what would do: not an .npy file, another type or
/// number of dimensions, truncated, trailing bytes, sizes that overflow. Nothing is allocated before the file is known
/// to be long enough.
arma::mat read_npy(const std::string& path);

/// Writes float64 in Fortran order, format version 1. Throws std::runtime_error when the file cannot be written.
void write_npy(const std::string& path, const arma::mat& matrix);

}  // namespace croquis
