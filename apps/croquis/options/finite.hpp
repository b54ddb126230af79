// Files have finite numbers.
#pragma once

#include <armadillo>
#include <string>

/// Throws std::invalid_argument with the first entry that is NaN or infinite; its message begins with `where`, such as
/// "k.npy: head 1, ".
void require_finite_numbers(const arma::mat& matrix, const std::string& where);
