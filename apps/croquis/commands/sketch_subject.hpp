// The matrix that croquis sketch compares operators and landmark policies on.
#pragma once

#include <CLI/CLI.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/kernel/kernel_matrix.hpp>
#include <map>
#include <optional>
#include <string>

#include "options/input.hpp"

/// Sizes up to which n x n matrices are stored.
constexpr arma::uword kLargestDense = 4096;

/// Which matrix it is to be.
struct SketchSubjectOptions {
  std::string matrix = "v";  ///< q, k, v, b, c of the input, or a file of one's own
  std::string kernel;        ///< of the points in the file; none when empty
  std::optional<double> bandwidth;
  std::string product;  ///< the file of the other factor; none when empty
  long long rank = 0;   ///< dimension of the subspace that is embedded; 0: all columns, at most 64
};

void add_subject_options(CLI::App& app, SketchSubjectOptions& options);

struct SketchSubject {
  std::string input, name;                          ///< of the input and of the matrix, for the results
  std::map<std::string, std::string> identity;      ///< for the meta file
  std::optional<croquis::Problem<double>> problem;  ///< none for a matrix from a file
  arma::uword n = 0, cols = 0;                      ///< of the matrix
  arma::mat matrix;                                 ///< n x cols; empty for a kernel that no operator needs
  arma::mat basis;  ///< orthonormal, spans the leading part of its column space; empty without operators
  std::optional<arma::mat> factor;  ///< n x k, of a product of two files
  /// What landmarks of a file are chosen for. Where there is none, no_landmarks says why, "FILE: is 3 x 4, not square",
  /// or is empty because none are asked for.
  std::optional<croquis::KernelMatrix<double>> kernel;
  std::string no_landmarks;
};

/// What is needed of it: `operators` for sketches, `landmarks` for policies. The basis has `rank` columns, or for 0 as
/// many as the matrix has directions above rounding, at most 64. Throws std::invalid_argument, with the option to
/// change.
SketchSubject load_sketch_subject(const SketchSubjectOptions& options, const InputOptions& input, std::uint64_t seed,
                                  bool operators, bool landmarks);
