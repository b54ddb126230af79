#include <cmath>
#include <croquis/measure/error_row.hpp>
#include <croquis/measure/finite.hpp>
#include <utility>

namespace croquis {

void set_errors(ErrorRow& row, const OutputErrors& errors) {
  row.spectral_abs = errors.spectral_abs;
  row.spectral_rel = errors.spectral_rel;
  row.frobenius_abs = errors.frobenius_abs;
  row.frobenius_rel = errors.frobenius_rel;
  row.max_abs = errors.max_abs;
}

void set_errors(ErrorRow& row, const SampledErrors& errors) {
  set_errors(row, errors.errors);
  row.spectral_rel_lo = errors.spectral_rel.lo;
  row.spectral_rel_hi = errors.spectral_rel.hi;
  row.frobenius_rel_lo = errors.frobenius_rel.lo;
  row.frobenius_rel_hi = errors.frobenius_rel.hi;
}

ErrorRow failed(ErrorRow row, const std::string& status) {
  const ErrorRow nothing;
  set_errors(row, SampledErrors{{nothing.spectral_abs, nothing.spectral_rel, nothing.frobenius_abs,
                                 nothing.frobenius_rel, nothing.max_abs},
                                {nothing.spectral_rel_lo, nothing.spectral_rel_hi},
                                {nothing.frobenius_rel_lo, nothing.frobenius_rel_hi}});
  row.row_sum_dev = row.min_denominator = row.scores_spectral_abs = row.scores_spectral_rel = ErrorRow::kUndefined;
  row.row_rel_q50 = row.row_rel_q90 = row.row_rel_q99 = row.row_rel_max = row.row_cosine_mean = row.row_cosine_q10 =
      ErrorRow::kUndefined;
  row.row_kl_mean = row.row_kl_q90 = row.tail_mass = row.tail_shift = row.alpha = row.kappa = row.bound_abs =
      row.bound_probability = ErrorRow::kUndefined;
  row.bound_source.clear();
  row.bound_trivial.clear();
  row.status = status;
  return row;
}

ErrorRow checked(ErrorRow row) {
  // An output that was divided by sums is good or not whether or not their multiples of the true ones overflow.
  if (std::isinf(row.min_denominator)) row.min_denominator = ErrorRow::kUndefined;
  const std::string status = status_of({{"spectral_abs", row.spectral_abs},
                                        {"frobenius_abs", row.frobenius_abs},
                                        {"max_abs", row.max_abs},
                                        {"spectral_rel", row.spectral_rel, true},
                                        {"frobenius_rel", row.frobenius_rel, true},
                                        {"spectral_rel_hi", row.spectral_rel_hi, true},
                                        {"frobenius_rel_hi", row.frobenius_rel_hi, true},
                                        {"row_rel_max", row.row_rel_max, true},
                                        {"row_sum_dev", row.row_sum_dev, true}});
  return status == "ok" ? row : failed(std::move(row), status);
}

}  // namespace croquis
