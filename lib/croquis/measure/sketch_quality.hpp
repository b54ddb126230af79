// What a sketch or a choice of landmarks keeps of a matrix: what `croquis sketch` measures.
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

/// One draw of an operator or of a landmark policy at one d; the columns say what each member is.
struct SketchRow {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input, matrix;
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

/// The random key of a draw of `croquis sketch --seed`: of an operator or of landmarks (SketchRow::kind), by its name
/// with its options ("sjlt:s=4").
Key sketch_key(std::uint64_t seed, const std::string& kind, const std::string& name, arma::uword d,
               std::uint64_t trial);

/// An orthonormal basis (n x r) of the leading part of the column space of a matrix (n x m), r at most `rank`:
/// directions below the rounding of the largest are no part of the column space. Throws std::invalid_argument for a
/// zero matrix, std::runtime_error when the solver fails.
arma::mat leading_basis(const arma::mat& matrix, arma::uword rank);

/// Sketches of one matrix A (n x m), compared on its columns, on an embedded subspace and on a product: for the values
/// of a problem BV against B S S^T V, for a factor (n x k) A^T factor against A^T S S^T factor. Thread-safe.
class SketchQuality {
 public:
  /// `basis` as leading_basis() gives it; `problem` or `factor` where a product is to be compared. Throws
  /// std::invalid_argument for a factor with other than n rows.
  SketchQuality(arma::mat matrix, arma::mat basis, const std::optional<Problem<double>>& problem,
                std::optional<arma::mat> factor = {});

  const arma::mat& matrix() const { return matrix_; }
  /// The row of a sketch; a failure becomes its status. Fills n, cols, rank, features and the measured members.
  /// Cost: the sketch applied to the matrix, the basis and V, and a product with B.
  SketchRow row(const SketchDescription& description) const;

 private:
  void measure(SketchRow& row, const SketchDescription& description) const;

  arma::mat matrix_, basis_;
  arma::vec squared_norms_;          // of the columns
  std::optional<arma::mat> values_;  // V, or the factor
  std::optional<LinearOperator<double>> scores_;
  std::optional<OutputReference> product_;
};

/// Nystrom approximations of a positive semi-definite matrix by the landmarks of a policy. Thread-safe once prepared.
class LandmarkQuality {
 public:
  /// Of the lift of a problem's queries and keys, which is stored, 2n x 2n.
  explicit LandmarkQuality(const Problem<double>& problem);
  /// Of any other (n x n). Where it is not to be `stored`, only its blocks are used and nystrom_spectral_rel is
  /// undefined; the policy `leverage` stores it all the same.
  explicit LandmarkQuality(KernelMatrix<double> matrix, bool stored = true);

  /// Computes what the policy shares between draws (leverage scores, ...); its time counts for every row.
  void prepare(const std::string& policy);
  /// The row of a draw; a failure becomes its status. Fills features and the measured members.
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
