// A matrix of the user's own, from a file.
#pragma once

#include <armadillo>
#include <string>

/// Whether the text names a file that load_own_matrix() reads: .npy or .mtx (MatrixMarket).
bool is_matrix_file(const std::string& text);

/// The matrix in the file. Throws std::invalid_argument, with `option` where it is no such file, unless it has numbers,
/// all of them finite, and a Frobenius norm whose squares do not overflow.
arma::mat load_own_matrix(const std::string& path, const std::string& option);

/// Throws std::invalid_argument where an option of an input is given beside such a file; "" is none.
void require_no_input(const std::string& given);

/// What tells runs on changed files apart, for the meta file.
std::string digest_of_matrix(const arma::mat& matrix);
