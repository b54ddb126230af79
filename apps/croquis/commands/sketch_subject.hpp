// The matrix that croquis sketch compares operators on.
#pragma once

#include <croquis/attention/problem.hpp>
#include <map>
#include <optional>
#include <string>

#include "options/input.hpp"

/// Sizes up to which n x n matrices are stored.
constexpr arma::uword kLargestDense = 4096;

struct SketchSubject {
  std::string input, name;                          ///< of the input and of the matrix, for the results
  std::map<std::string, std::string> identity;      ///< for the meta file
  std::optional<croquis::Problem<double>> problem;  ///< none for a matrix from a file
  arma::mat matrix;                                 ///< n x cols, what is sketched
  arma::mat basis;                                  ///< orthonormal, spans the leading part of its column space
};

/// `matrix` is q, k, v, b, c of the input, or an .npy file. The basis has `rank` columns, or 64 for 0, or as many as
/// the matrix has directions above rounding, whichever is least. Throws std::invalid_argument, with the option to
/// change.
SketchSubject load_sketch_subject(const std::string& matrix, const InputOptions& input, long long rank,
                                  std::uint64_t seed);
