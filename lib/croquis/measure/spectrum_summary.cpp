#include <algorithm>
#include <cmath>
#include <croquis/linalg/spectrum.hpp>
#include <croquis/measure/spectrum_summary.hpp>
#include <utility>

namespace croquis {

const Columns<SpectrumSummary>& spectrum_summary_columns() {
  static const Columns<SpectrumSummary> columns = {
      {{"input", Role::key, "the head, or the file"}, &SpectrumSummary::input},
      {{"matrix", Role::curve, "the matrix"}, &SpectrumSummary::matrix},
      {{"n", Role::subject, "number of tokens, or rows"}, &SpectrumSummary::n},
      {{"p", Role::subject, "width of queries and keys, or columns"}, &SpectrumSummary::p},
      {{"method", Role::subject, "`dense` or `lanczos`"}, &SpectrumSummary::method},
      {{"spectral", Role::number, "σ_1"}, &SpectrumSummary::spectral},
      {{"frobenius", Role::number, "‖·‖_F"}, &SpectrumSummary::frobenius},
      {{"nuclear", Role::number, "the sum of all singular values"}, &SpectrumSummary::nuclear},
      {{"nuclear_lo", Role::number,
        "the lower end of its 95 % interval for lanczos, asymptotic as that of `cumulative`; the same number for "
        "dense"},
       &SpectrumSummary::nuclear_lo},
      {{"nuclear_hi", Role::number, "the upper end"}, &SpectrumSummary::nuclear_hi},
      {{"condition", Role::number,
        "σ_1 over the smallest singular value, or 1 / (max(rows, columns) u) if that is smaller. In the latter case "
        "the smallest is rounding, and the value, 10¹² or more for sides up to 9000, is only a lower bound: it says "
        "the larger side, and nothing of the matrix beyond that. For `bv` and `cv` the number of rows counts, also "
        "where values are wider. `NA` for lanczos and for a matrix of zeros"},
       &SpectrumSummary::condition},
      {{"stable_rank", Role::number, "‖·‖_F² / ‖·‖²; `NA` for a matrix of zeros"}, &SpectrumSummary::stable_rank},
      {{"rank", Role::number,
        "the number of singular values above max(rows, columns) u σ_1, u = 2⁻⁵³. `NA` for lanczos"},
       &SpectrumSummary::rank},
      {{"cumulative_128", Role::number, "`cumulative` at index 128; `NA` if there are fewer"},
       &SpectrumSummary::cumulative_128},
      {{"cumulative_quarter", Role::number,
        "`cumulative` at a quarter of the number of singular values, rounded down; `NA` for fewer than 4 of them, and "
        "where lanczos has not computed so many"},
       &SpectrumSummary::cumulative_quarter},
      {{"log_scale", Role::number, "as in the rows"}, &SpectrumSummary::log_scale},
      {{"status", Role::note, "as in the rows"}, &SpectrumSummary::status}};
  return columns;
}

namespace {

double at(const arma::vec& cumulative, arma::uword index) {
  return index >= 1 && index <= cumulative.n_elem ? cumulative(index - 1) : SpectrumSummary::kUndefined;
}

bool is_given(const SpectrumSummary& s) {
  const auto& known = spectrum_matrices();
  return std::find(known.begin(), known.end(), s.matrix) == known.end();
}

}  // namespace

arma::uword singular_values_of(const SpectrumSummary& s) {
  if (is_given(s)) return std::min(s.n, s.p);
  return is_output(s.matrix) ? s.values.n_elem : std::min(s.n_q, s.n);
}

namespace {

// The cut-off below which a singular value is rounding, by the sides of the matrix.
double cutoff_of(const SpectrumSummary& s) {
  if (is_given(s)) return rank_cutoff(s.n, s.p);
  return rank_cutoff(is_output(s.matrix) ? s.n_q : std::max(s.n_q, s.n), s.values.n_elem);
}

void derive(SpectrumSummary& s, double last_lo, double last_hi) {
  const double known = arma::accu(s.values);
  s.spectral = s.values(0);
  const auto whole = [known](double share) { return known > 0 ? known / share : 0; };
  s.nuclear = whole(s.cumulative(s.cumulative.n_elem - 1));
  s.nuclear_lo = whole(last_hi);
  s.nuclear_hi = whole(last_lo);
  s.stable_rank = std::pow(s.frobenius / s.values(0), 2);
  if (s.method == "dense") {
    const double cutoff = cutoff_of(s);
    s.rank = static_cast<double>(numerical_rank(s.values, cutoff));
    s.condition = condition_number(s.values, cutoff);
  }
  s.cumulative_128 = at(s.cumulative, kCumulativeIndex);
  s.cumulative_quarter = at(s.cumulative, singular_values_of(s) / 4);
}

}  // namespace

std::vector<SpectrumSummary> summarise_spectra(const std::vector<SpectrumRow>& rows) {
  std::vector<SpectrumSummary> summaries;
  for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
    const SpectrumRow& row = rows[first];
    while (end < rows.size() && rows[end].input == row.input && rows[end].matrix == row.matrix) ++end;
    SpectrumSummary s;
    s.input = row.input;
    s.matrix = row.matrix;
    s.n = row.n;
    s.n_q = row.n_q;
    s.p = row.p;
    s.method = row.method;
    s.status = row.status;
    s.frobenius = row.frobenius;
    s.log_scale = row.log_scale;
    s.values.set_size(end - first);
    s.cumulative.set_size(end - first);
    for (std::size_t i = first; i < end; ++i) {
      s.values(i - first) = rows[i].singular_value;
      s.cumulative(i - first) = rows[i].cumulative;
    }
    if (s.status == "ok") derive(s, rows[end - 1].cumulative_lo, rows[end - 1].cumulative_hi);
    summaries.push_back(std::move(s));
  }
  return summaries;
}

}  // namespace croquis
