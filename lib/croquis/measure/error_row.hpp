// The row of a draw in the results of `croquis error`.
#pragma once

#include <croquis/measure/columns.hpp>
#include <croquis/measure/errors.hpp>
#include <croquis/measure/sampled_errors.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace croquis {

/// One draw of a method at one d, compared with the exact output of its target. error_columns() documents the members.
/// NaN marks a number that does not apply.
struct ErrorRow {
  static constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

  std::string input, method, preset, target;
  std::uint64_t n = 0, p = 0, p_v = 0, features = 0, trial = 0, seed = 0;
  std::string precision = "double";
  double spectral_abs = kUndefined, spectral_rel = kUndefined;
  double frobenius_abs = kUndefined, frobenius_rel = kUndefined, max_abs = kUndefined;
  double row_sum_dev = kUndefined, min_denominator = kUndefined;
  double seconds = kUndefined, flops = kUndefined;
  std::string status = "ok";
  std::optional<std::uint64_t> sequence = {}, layer = {}, head = {};
  std::uint64_t n_q = 0;
  std::optional<std::uint64_t> rows;
  double spectral_rel_lo = kUndefined, spectral_rel_hi = kUndefined;
  double frobenius_rel_lo = kUndefined, frobenius_rel_hi = kUndefined;
  double scores_spectral_abs = kUndefined, scores_spectral_rel = kUndefined;
  double row_rel_q50 = kUndefined, row_rel_q90 = kUndefined, row_rel_q99 = kUndefined;
  double row_rel_max = kUndefined;
  double row_cosine_mean = kUndefined, row_cosine_q10 = kUndefined;
  double row_kl_mean = kUndefined, row_kl_q90 = kUndefined;
  double tail_mass = kUndefined, tail_shift = kUndefined;
  double alpha = kUndefined, kappa = kUndefined;
  double bound_abs = kUndefined, bound_probability = kUndefined;
  std::string bound_source, bound_trivial;
};

/// The columns. The options --rows, --scores, --row-errors and --bounds add some.
const Columns<ErrorRow>& error_columns();

/// Writes errors into a row; without intervals if all rows were compared.
void set_errors(ErrorRow& row, const OutputErrors& errors);
void set_errors(ErrorRow& row, const SampledErrors& errors);
/// The row with the failure as its status, and without numbers except the time.
ErrorRow failed(ErrorRow row, const std::string& status);
/// The row, or failed() with the name of the first number that overflowed.
ErrorRow checked(ErrorRow row);

}  // namespace croquis
