// The matrices that croquis sketch compares operators and landmark policies on.
#pragma once

#include <CLI/CLI.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/kernel/kernel_matrix.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  std::string input, name;                             ///< of the input and of the matrix, for the results
  std::optional<std::uint64_t> sequence, layer, head;  ///< where the input has several
  std::optional<croquis::Problem<double>> problem;     ///< none for a matrix from a file
  arma::uword n = 0, cols = 0;                         ///< of the matrix
  arma::mat matrix;                                    ///< n x cols; empty for a kernel that no operator needs
  arma::mat basis;  ///< orthonormal, spans the leading part of its column space; empty without operators
  std::optional<arma::mat> factor;  ///< n x k, of a product of two files
  /// What landmarks of a file are chosen for. Where there is none, no_landmarks says why, "FILE: is 3 x 4, not square",
  /// or is empty because none are asked for.
  std::optional<croquis::KernelMatrix<double>> kernel;
  std::string no_landmarks;
};

/// What is known of one before its numbers are there.
struct PendingSketchSubject {
  std::string input;                                           ///< for the results
  arma::uword n = 0, cols = 0;                                 ///< of the matrix
  std::optional<Input> head;                                   ///< none for a matrix from a file
  std::function<std::shared_ptr<const SketchSubject>()> load;  ///< the same numbers every time
};

struct SketchSubjects {
  std::vector<PendingSketchSubject> all;        ///< a matrix of every head of the input, or that of a file
  std::map<std::string, std::string> identity;  ///< for the meta file
};

/// What is needed of them: `operators` for sketches, `landmarks` for policies. A basis has `rank` columns, or for 0 as
/// many as the matrix has directions above rounding, at most 64. One subject stays in memory. Of several, each is read
/// once before, so that what cannot be compared is refused before anything is computed. Throws std::invalid_argument,
/// with the option to change.
SketchSubjects sketch_subjects(const SketchSubjectOptions& options, const InputOptions& input, const RunOptions& run,
                               bool operators, bool landmarks);
