// How well a sketch or a choice of landmarks preserves a matrix: what `croquis sketch` measures.
#pragma once

#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <croquis/kernel/kernel_matrix.hpp>
#include <croquis/linalg/linear_operator.hpp>
#include <croquis/measure/columns.hpp>
#include <croquis/measure/errors.hpp>
#include <croquis/nystrom/lift.hpp>
#include <croquis/random/key.hpp>
#include <croquis/sampling/landmarks.hpp>
#include <croquis/sketch/description.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace croquis {

/// One draw of an operator or of a landmark policy at one d. sketch_columns() documents the members. NaN marks a number
/// that does not apply.
struct SketchRow {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input, matrix;
  std::optional<std::uint64_t> sequence, layer, head;
  std::uint64_t n = 0, cols = 0, rank = 0;
  std::string kind, name;
  std::uint64_t features = 0, trial = 0, seed = 0;
  double norm_error = kUndefined, injectivity = kUndefined, dilation = kUndefined;
  double product_spectral_rel = kUndefined, product_frobenius_rel = kUndefined;
  double nystrom_spectral_rel = kUndefined, nystrom_trace_rel = kUndefined;
  double seconds = kUndefined;
  std::string status = "ok";
};

const Columns<SketchRow>& sketch_columns();

/// The random key of a draw in `croquis sketch --seed`, of an operator or of landmarks (SketchRow::kind), by its name
/// with its options ("sjlt:s=4").
Key sketch_key(std::uint64_t seed, const std::string& kind, const std::string& name, arma::uword d,
               std::uint64_t trial);

/// An orthonormal basis (n x r) of the leading part of the column space of a matrix (n x m), with r at most `rank`.
/// Directions whose singular values are only rounding are left out.
/// Throws: std::invalid_argument for a zero or empty matrix, std::runtime_error if the solver fails.
arma::mat leading_basis(const arma::mat& matrix, arma::uword rank);

/// Sketches S of one matrix A (n x m): how they preserve its column norms, the embedded subspace of a basis, and a
/// product, which is B S S^T V against B V for a problem, or A^T S S^T F against A^T F for a factor F (n x k).
/// Thread-safe.
class SketchQuality {
 public:
  /// `basis` is a result of leading_basis(); `problem` or `factor` is given if a product is to be compared. Throws
  /// std::invalid_argument for a matrix that is empty, zero or has NaN or infinity, for a basis without columns, and
  /// for a basis, V or factor that does not have n rows.
  SketchQuality(arma::mat matrix, arma::mat basis, const std::optional<Problem<double>>& problem,
                std::optional<arma::mat> factor = {});

  const arma::mat& matrix() const { return matrix_; }
  /// The row of a sketch. A failure becomes its status, also that of a description that is no sketch of these sizes;
  /// the description need not be completed. Sets n, cols, rank, features and the measured members. Cost: the sketch
  /// applied to the matrix, the basis and V, and a product with B.
  SketchRow row(const SketchDescription& description) const;

 private:
  void measure(SketchRow& row, const SketchDescription& description) const;

  arma::mat matrix_, basis_;         // the matrix over a power of two
  arma::ivec exponents_;             // of the largest entries of its columns
  arma::vec squared_norms_;          // of the columns over these powers of two
  std::optional<arma::mat> values_;  // V, or the factor
  std::optional<LinearOperator<double>> scores_;
  std::optional<OutputReference> product_;
};

/// Nystrom approximations of a positive semi-definite matrix by the landmarks of a policy. Thread-safe after
/// preparation.
class LandmarkQuality {
 public:
  /// For the lift of a problem's queries and keys, which is stored (2n x 2n).
  explicit LandmarkQuality(const Problem<double>& problem);
  /// For any other matrix (n x n). If it is not `stored`, only its blocks are used, and nystrom_spectral_rel is
  /// undefined; the policy `leverage` stores it all the same.
  explicit LandmarkQuality(KernelMatrix<double> matrix, bool stored = true);

  /// Does the policy's work that does not depend on the draw, such as leverage scores. Its time is added to that of
  /// every row.
  void prepare(const std::string& policy);
  /// The row of a draw. A failure becomes its status. Sets features and the measured members. Throws
  /// std::invalid_argument before prepare().
  SketchRow row(arma::uword d, const Key& key) const;

 private:
  void measure(SketchRow& row, const Key& key) const;

  KernelMatrix<double> kernel_;
  double entry_error_;
  arma::mat dense_;  // empty where the spectral norm is not measured
  double norm_ = 0;
  std::optional<LandmarkSampler<double>> sampler_;
  double preparation_ = 0;  // seconds
};

}  // namespace croquis
