#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/kernel/semidefinite.hpp>
#include <croquis/linalg/norms.hpp>
#include <limits>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

arma::mat symmetrised(const arma::mat& matrix) {
  return 0.5 * (matrix + matrix.t());
}

std::string asymmetry(const arma::mat& matrix, double tolerance) {
  arma::uword row = 0, col = 0;
  double most = 0;
  for (arma::uword j = 0; j < matrix.n_cols; ++j) {
    for (arma::uword i = j + 1; i < matrix.n_rows; ++i) {
      const double differs = std::abs(matrix(i, j) / 2 - matrix(j, i) / 2);
      if (differs > most) {
        most = differs;
        row = i;
        col = j;
      }
    }
  }
  if (most <= tolerance / 2) return "";
  return fmt::format("is not symmetric: entry ({}, {}) is {:.17g} and entry ({}, {}) is {:.17g}, counted from 0", row,
                     col, matrix(row, col), col, row, matrix(col, row));
}

}  // namespace

double unit_of(const arma::mat& matrix) {
  const auto is_single = [](double x) { return static_cast<double>(static_cast<float>(x)) == x; };
  const auto is_whole = [](double x) { return std::trunc(x) == x; };
  constexpr double largest = std::numeric_limits<float>::max();
  const bool single =
      std::all_of(matrix.begin(), matrix.end(), [&](double x) { return std::abs(x) <= largest && is_single(x); });
  const bool whole = std::all_of(matrix.begin(), matrix.end(), is_whole);
  return (single && !whole ? static_cast<double>(std::numeric_limits<float>::epsilon())
                           : std::numeric_limits<double>::epsilon()) /
         2;
}

std::string semidefinite_defect(const arma::mat& matrix) {
  const SerialBlas serial;
  if (matrix.n_rows != matrix.n_cols) return fmt::format("is {} x {}, not square", matrix.n_rows, matrix.n_cols);
  if (matrix.is_empty()) return "is empty";
  const double largest = largest_entry(matrix);
  if (!std::isfinite(largest)) return "has an entry that is not finite";
  if (largest == 0) return "is zero";
  require_memory(2.0 * sizeof(double) * static_cast<double>(matrix.n_elem), "semidefinite_defect: two copies",
                 {{"n", matrix.n_rows}});
  const double rounding = static_cast<double>(matrix.n_rows) * unit_of(matrix);
  if (const std::string defect = asymmetry(matrix, rounding * largest); !defect.empty()) return defect;

  const arma::mat g = symmetrised(over_power_of_two(matrix));
  const double tolerance = rounding * spectral_norm(as_operator(g), Key(1)).value;
  arma::mat factor = g;
  factor.diag() += tolerance;
  if (arma::chol(factor, factor)) return "";
  arma::vec eigenvalues;
  if (!arma::eig_sym(eigenvalues, g)) throw std::runtime_error("semidefinite_defect: the eigenvalue solver failed");
  if (eigenvalues.min() >= -tolerance) return "";
  const int exponent = std::ilogb(largest);
  return fmt::format("is not positive semi-definite: its smallest eigenvalue is {:.6g}, its largest {:.6g}",
                     std::ldexp(eigenvalues.min(), exponent), std::ldexp(eigenvalues.max(), exponent));
}

KernelMatrix<double> semidefinite_kernel_matrix(const arma::mat& matrix) {
  const SerialBlas serial;
  require(matrix.n_rows == matrix.n_cols && largest_entry(matrix) > 0, "semidefinite_kernel_matrix",
          "a square matrix that is not zero", {{"rows", matrix.n_rows}, {"cols", matrix.n_cols}});
  arma::mat g = symmetrised(over_power_of_two(matrix));
  g.diag() = arma::clamp(arma::vec(g.diag()), 0.0, std::numeric_limits<double>::max());
  const double entry_error = 2 * unit_of(matrix) / std::numeric_limits<double>::epsilon();
  KernelMatrix<double> kernel = stored_kernel_matrix(std::move(g));
  kernel.entry_error = [=] { return entry_error; };
  return kernel;
}

}  // namespace croquis
