#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/score_matrices.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/spectrum.hpp>
#include <croquis/linalg/trace_estimate.hpp>
#include <croquis/measure/finite.hpp>
#include <croquis/measure/spectra.hpp>
#include <exception>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

constexpr arma::uword kLargestDense = 4096;  // n x n above this: two minutes and 128 MB a matrix
constexpr double kUndefined = SpectrumRow::kUndefined;

bool is_output(const std::string& matrix) {
  return matrix == "bv" || matrix == "cv";
}

ScoreMatrix score_matrix_of(const std::string& matrix) {
  if (matrix == "a") return ScoreMatrix::raw;
  return matrix == "b" ? ScoreMatrix::softmax : ScoreMatrix::kernelized;
}

struct Spectrum {
  arma::vec values, residuals;
  double total = kUndefined, total_lo = kUndefined, total_hi = kUndefined;  // sum of all singular values
  double frobenius = kUndefined, log_scale = 0;
};

Spectrum dense_spectrum(const Problem<double>& problem, const std::string& matrix) {
  Spectrum s;
  if (is_output(matrix)) {
    s.values = singular_values(exact_attention(problem, matrix == "bv" ? Target::softmax : Target::kernelized).output);
  } else {
    s.values = singular_values(score_matrix(problem, score_matrix_of(matrix)));
    if (matrix == "a") s.log_scale = largest_log_score(problem);
  }
  s.residuals.zeros(s.values.n_elem);
  s.total = s.total_lo = s.total_hi = arma::accu(s.values);
  s.frobenius = arma::norm(s.values);
  return s;
}

Spectrum lanczos_spectrum(const Problem<double>& problem, const std::string& matrix, const Key& key,
                          const SpectrumSettings& settings) {
  Spectrum s;
  const ScoreOperator scores = score_operator(problem, score_matrix_of(matrix));
  auto leading = leading_spectrum(scores.matrix, settings.leading, key.child("leading"));
  s.frobenius = scores.frobenius;
  s.log_scale = scores.log_scale;
  const auto sum = spectral_sum<double>(scores.matrix, [](double x) { return x; }, leading.values, leading.right,
                                        key.child("sum"), {.probes = settings.probes});
  s.total = sum.value;
  s.total_lo = sum.lower;
  s.total_hi = sum.upper;
  s.values = std::move(leading.values);
  s.residuals = std::move(leading.residuals);
  return s;
}

void require_finite(const Spectrum& s) {
  const std::string status = status_of({{"singular_value", arma::accu(s.values)},
                                        {"frobenius", s.frobenius},
                                        {"log_scale", s.log_scale},
                                        {"cumulative", s.total, true}});
  if (status != "ok") throw std::runtime_error(status);
}

std::vector<SpectrumRow> rows_of(const Spectrum& s, const SpectrumRow& common) {
  std::vector<SpectrumRow> rows(s.values.n_elem, common);
  double sum = 0;
  for (arma::uword i = 0; i < s.values.n_elem; ++i) {
    sum += s.values(i);
    SpectrumRow& row = rows[i];
    row.index = i + 1;
    row.singular_value = s.values(i);
    row.residual = s.residuals(i);
    row.cumulative = std::min(1.0, sum / s.total);
    row.cumulative_lo = std::min(1.0, sum / s.total_hi);
    row.cumulative_hi = std::min(1.0, sum / s.total_lo);
    row.frobenius = s.frobenius;
    row.log_scale = s.log_scale;
  }
  return rows;
}

}  // namespace

SpectrumMethod spectrum_method_named(const std::string& name) {
  if (name == "auto") return SpectrumMethod::automatic;
  if (name == "dense") return SpectrumMethod::dense;
  require(name == "lanczos", "spectrum", "the method is auto, dense or lanczos", {{"method", std::string_view(name)}});
  return SpectrumMethod::lanczos;
}

const Columns<SpectrumRow>& spectrum_columns() {
  static const Columns<SpectrumRow> columns = {
      {{"input", Role::key,
        "the kind of [input](inputs.md); the name of the file if there is one, and the layer and head if there are "
        "several"},
       &SpectrumRow::input},
      {{"matrix", Role::curve, "`a`, A / max a_ij; `b`, `c`, the score matrices B and C; `bv`, `cv`, the outputs"},
       &SpectrumRow::matrix},
      {{"n", Role::subject, "number of tokens, without padding; of keys, where queries are others"}, &SpectrumRow::n},
      {{"p", Role::subject, "width of queries and keys"}, &SpectrumRow::p},
      {{"method", Role::subject,
        "`dense`: all singular values, by LAPACK. `lanczos`: the `--leading` largest, by the Golub-Kahan-Lanczos "
        "method without storing an n x n matrix. The second is used for n x n matrices above n = 4096, or with "
        "`--method lanczos`"},
       &SpectrumRow::method},
      {{"index", Role::part, "k, from 1", "k"}, &SpectrumRow::index},
      {{"singular_value", Role::number, "σ_k, in descending order"}, &SpectrumRow::singular_value},
      {{"residual", Role::number,
        "a true singular value lies within this distance of `singular_value`. It is 0 for dense, where the error is n "
        "u σ_1. Entries of C are accurate to u times the largest squared norm about the mean of the points, and at "
        "worst to 128 u ([limitations](limitations.md))"},
       &SpectrumRow::residual},
      {{"cumulative", Role::number, "(σ_1 + ... + σ_k) / (the sum of all)"}, &SpectrumRow::cumulative},
      {{"cumulative_lo", Role::number,
        "for dense, the same as `cumulative`. For lanczos, the sum of the singular values that were not computed is "
        "estimated by stochastic Lanczos quadrature with `--probes` vectors: the lower end of a 95 % Student interval "
        "over the probes, widened by the error of the quadrature"},
       &SpectrumRow::cumulative_lo},
      {{"cumulative_hi", Role::number, "the upper end"}, &SpectrumRow::cumulative_hi},
      {{"frobenius", Role::number, "‖·‖_F, exact, because squared scores are scores too"}, &SpectrumRow::frobenius},
      {{"log_scale", Role::number, "for `a`: log max a_ij. A is e^`log_scale` times the matrix that was measured"},
       &SpectrumRow::log_scale},
      {{"seed", Role::note, "`--seed`"}, &SpectrumRow::seed},
      {{"status", Role::note, "`ok`, or the reason of a failure; such a row has no numbers"}, &SpectrumRow::status},
      {{"layer", Role::subject, "the layer of a model, from 0. `NA` if the input has none"}, &SpectrumRow::layer},
      {{"head", Role::subject, "the head, from 0. `NA` if the input has one without a number"}, &SpectrumRow::head},
      {{"n_q", Role::subject,
        "number of queries, and of rows of the matrix. It is `n`, except where queries are others"},
       &SpectrumRow::n_q}};
  return columns;
}

const std::vector<std::string>& spectrum_matrices() {
  static const std::vector<std::string> matrices = {"a", "b", "c", "bv", "cv"};
  return matrices;
}

SpectrumPlan plan_spectrum(const Problem<double>& problem, const std::string& matrix,
                           const SpectrumSettings& settings) {
  return plan_spectrum(problem.tokens(), problem.p_v(), matrix, settings);
}

SpectrumPlan plan_spectrum(TokenAlignment tokens, arma::uword p_v, const std::string& matrix,
                           const SpectrumSettings& settings) {
  const auto& known = spectrum_matrices();
  require(std::find(known.begin(), known.end(), matrix) != known.end(), "spectrum", "the matrix is a, b, c, bv or cv",
          {{"matrix", std::string_view(matrix)}});
  require(settings.leading >= 1, "spectrum", "leading >= 1", {{"leading", settings.leading}});
  require(settings.probes >= 2, "spectrum", "probes >= 2", {{"probes", settings.probes}});
  const double entries = static_cast<double>(tokens.n_q) * static_cast<double>(tokens.n_k);
  const bool automatic =
      settings.method == SpectrumMethod::automatic && entries > static_cast<double>(kLargestDense * kLargestDense);
  const bool lanczos = !is_output(matrix) && (settings.method == SpectrumMethod::lanczos || automatic);
  const arma::uword all = is_output(matrix) ? std::min(tokens.n_q, p_v) : std::min(tokens.n_q, tokens.n_k);
  return {lanczos, lanczos ? std::min(all, settings.leading) : all};
}

std::vector<SpectrumRow> matrix_spectrum(const Problem<double>& problem, const std::string& matrix, const Key& key,
                                         const SpectrumSettings& settings) {
  const SerialBlas serial;
  const SpectrumPlan plan = plan_spectrum(problem, matrix, settings);
  SpectrumRow common;
  common.matrix = matrix;
  common.n = problem.n_k();
  common.n_q = problem.n_q();
  common.p = problem.p();
  common.method = plan.lanczos ? "lanczos" : "dense";
  try {
    const Spectrum s =
        plan.lanczos ? lanczos_spectrum(problem, matrix, key.child(matrix), settings) : dense_spectrum(problem, matrix);
    require_finite(s);
    return rows_of(s, common);
  } catch (const std::exception& failure) {
    common.index = 1;
    common.status = failure.what();
    return {common};
  }
}

const Columns<SpectrumSummary>& spectrum_summary_columns() {
  static const Columns<SpectrumSummary> columns = {
      {{"input", Role::key, "the head"}, &SpectrumSummary::input},
      {{"matrix", Role::curve, "the matrix"}, &SpectrumSummary::matrix},
      {{"n", Role::subject, "number of tokens"}, &SpectrumSummary::n},
      {{"p", Role::subject, "width of queries and keys"}, &SpectrumSummary::p},
      {{"method", Role::subject, "`dense` or `lanczos`"}, &SpectrumSummary::method},
      {{"spectral", Role::number, "σ_1"}, &SpectrumSummary::spectral},
      {{"frobenius", Role::number, "‖·‖_F"}, &SpectrumSummary::frobenius},
      {{"nuclear", Role::number, "the sum of all singular values"}, &SpectrumSummary::nuclear},
      {{"nuclear_lo", Role::number, "the lower end of its 95 % interval for lanczos; the same number for dense"},
       &SpectrumSummary::nuclear_lo},
      {{"nuclear_hi", Role::number, "the upper end"}, &SpectrumSummary::nuclear_hi},
      {{"condition", Role::number,
        "σ_1 / σ_n, or 1 / (n u) if that is smaller. In the latter case it is a lower bound, since σ_n is rounding. "
        "`NA` for lanczos"},
       &SpectrumSummary::condition},
      {{"stable_rank", Role::number, "‖·‖_F² / ‖·‖²"}, &SpectrumSummary::stable_rank},
      {{"rank", Role::number, "the number of singular values above n u σ_1, u = 2⁻⁵³. `NA` for lanczos"},
       &SpectrumSummary::rank},
      {{"cumulative_128", Role::number, "`cumulative` at index 128"}, &SpectrumSummary::cumulative_128},
      {{"cumulative_quarter", Role::number, "`cumulative` at a quarter of the singular values"},
       &SpectrumSummary::cumulative_quarter},
      {{"log_scale", Role::number, "as in the rows"}, &SpectrumSummary::log_scale},
      {{"status", Role::note, "as in the rows"}, &SpectrumSummary::status}};
  return columns;
}

namespace {

double at(const arma::vec& cumulative, arma::uword index) {
  return index >= 1 && index <= cumulative.n_elem ? cumulative(index - 1) : kUndefined;
}

void derive(SpectrumSummary& s, double last_lo, double last_hi) {
  const double known = arma::accu(s.values);
  s.spectral = s.values(0);
  s.nuclear = known / s.cumulative(s.cumulative.n_elem - 1);
  s.nuclear_lo = known / last_hi;
  s.nuclear_hi = known / last_lo;
  s.stable_rank = std::pow(s.frobenius / s.values(0), 2);
  if (s.method == "dense") {
    const double cutoff = rank_cutoff(is_output(s.matrix) ? s.n_q : std::max(s.n_q, s.n), s.values.n_elem);
    s.rank = static_cast<double>(numerical_rank(s.values, cutoff));
    s.condition = condition_number(s.values, cutoff);
  }
  s.cumulative_128 = at(s.cumulative, kCumulativeIndex);
  // The values of an output are as many as its columns; those of the scores n, or n_q if that is less, found or not.
  s.cumulative_quarter = at(s.cumulative, (is_output(s.matrix) ? s.values.n_elem : std::min(s.n_q, s.n)) / 4);
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
