// Summaries of spectra: the summary of `croquis spectrum`.
#pragma once

#include <armadillo>
#include <croquis/measure/columns.hpp>
#include <croquis/measure/spectra.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace croquis {

/// The summary of the singular values of one matrix. NaN marks what is not known: with lanczos everything that needs
/// the smallest singular values, and all numbers if the computation failed.
struct SpectrumSummary {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input, matrix;
  std::uint64_t n = 0, p = 0;
  std::string method;
  double spectral = kUndefined, frobenius = kUndefined;
  double nuclear = kUndefined, nuclear_lo = kUndefined, nuclear_hi = kUndefined;
  double condition = kUndefined, stable_rank = kUndefined, rank = kUndefined;
  double cumulative_128 = kUndefined, cumulative_quarter = kUndefined;
  double log_scale = kUndefined;
  std::string status;
  std::uint64_t n_q = 0;         ///< from the rows; not a column
  arma::vec values, cumulative;  ///< from the rows, for curves; not columns
};

const Columns<SpectrumSummary>& spectrum_summary_columns();

/// The index of cumulative_128, at which Linformer's Fig. 1 is drawn.
inline constexpr arma::uword kCumulativeIndex = 128;

/// The number of singular values of the matrix, computed or not: min(n_q, n) for scores, the smaller side of a given
/// matrix, and for an output the number of its rows in the result.
arma::uword singular_values_of(const SpectrumSummary& s);

/// A summary for each matrix, in the order of the rows, in which the rows of a matrix must be consecutive.
std::vector<SpectrumSummary> summarise_spectra(const std::vector<SpectrumRow>& rows);

}  // namespace croquis
