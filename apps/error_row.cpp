#include "error_row.hpp"

namespace {

using croquis::csv_field;
using croquis::csv_number;

const std::vector<std::string> kColumns = {
    "input",        "method",        "preset",        "target",  "n",           "p",
    "p_v",          "features",      "trial",         "seed",    "precision",   "spectral_abs",
    "spectral_rel", "frobenius_abs", "frobenius_rel", "max_abs", "row_sum_dev", "min_denominator",
    "seconds",      "flops",         "status"};
// --scores puts them after the others, which stay what they are.
const std::vector<std::string> kScoreColumns = {"scores_spectral_abs", "scores_spectral_rel"};

// So does --rows, for the relative errors.
const std::vector<std::string> kSampleColumns = {"rows", "spectral_rel_lo", "spectral_rel_hi", "frobenius_rel_lo",
                                                 "frobenius_rel_hi"};

}  // namespace

std::vector<std::string> error_columns(const ErrorOptions& options) {
  std::vector<std::string> columns = kColumns;
  if (options.rows) columns.insert(columns.end(), kSampleColumns.begin(), kSampleColumns.end());
  if (options.scores) columns.insert(columns.end(), kScoreColumns.begin(), kScoreColumns.end());
  return columns;
}

std::vector<std::string> error_row(const ErrorOptions& options, const ErrorSubject& subject, arma::uword features,
                                   long long trial, const Measured& m, double flops) {
  std::vector<std::string> row = {csv_field(subject.input),
                                  subject.choice->name,
                                  csv_field(subject.choice->preset),
                                  std::string(name_of(subject.target)),
                                  std::to_string(subject.n),
                                  std::to_string(subject.p),
                                  std::to_string(subject.p_v),
                                  std::to_string(features),
                                  std::to_string(trial),
                                  std::to_string(options.run.seed),
                                  options.run.precision,
                                  csv_number(m.errors.spectral_abs),
                                  csv_number(m.errors.spectral_rel),
                                  csv_number(m.errors.frobenius_abs),
                                  csv_number(m.errors.frobenius_rel),
                                  csv_number(m.errors.max_abs),
                                  csv_number(m.row_sum_deviation),
                                  csv_number(m.smallest_denominator),
                                  csv_number(m.seconds),
                                  csv_number(flops),
                                  csv_field(m.status)};
  if (options.rows) {
    row.push_back(std::to_string(*options.rows));
    for (const double limit : {m.spectral_rel.lo, m.spectral_rel.hi, m.frobenius_rel.lo, m.frobenius_rel.hi}) {
      row.push_back(csv_number(limit));
    }
  }
  if (options.scores) row.insert(row.end(), {csv_number(m.scores.spectral_abs), csv_number(m.scores.spectral_rel)});
  return row;
}
