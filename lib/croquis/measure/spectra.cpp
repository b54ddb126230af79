#include <algorithm>
#include <cmath>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/score_matrices.hpp>
#include <croquis/core/memory.hpp>
#include <croquis/core/power_of_two.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/norms.hpp>
#include <croquis/linalg/spectrum.hpp>
#include <croquis/linalg/trace_estimate.hpp>
#include <croquis/measure/finite.hpp>
#include <croquis/measure/head_columns.hpp>
#include <croquis/measure/spectra.hpp>
#include <exception>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

constexpr arma::uword kLargestDense = 4096;  // n x n above this: two minutes and 128 MB a matrix

ScoreMatrix score_matrix_of(const std::string& matrix) {
  if (matrix == "a") return ScoreMatrix::raw;
  return matrix == "b" ? ScoreMatrix::softmax : ScoreMatrix::kernelized;
}

bool runs_lanczos(arma::uword size, const SpectrumSettings& settings) {
  require(settings.leading >= 1, "spectrum", "leading >= 1", {{"leading", settings.leading}});
  require(settings.probes >= 2, "spectrum", "probes >= 2", {{"probes", settings.probes}});
  return settings.method == SpectrumMethod::lanczos ||
         (settings.method == SpectrumMethod::automatic && size > kLargestDense);
}

struct Spectrum {
  arma::vec values, residuals;
  double total = SpectrumRow::kUndefined, total_lo = SpectrumRow::kUndefined,
         total_hi = SpectrumRow::kUndefined;  // sum of all singular values
  double frobenius = SpectrumRow::kUndefined, log_scale = 0;
};

Spectrum dense_spectrum(const arma::mat& matrix) {
  Spectrum s;
  s.values = singular_values(matrix);
  s.residuals.zeros(s.values.n_elem);
  s.total = s.total_lo = s.total_hi = arma::accu(s.values);
  s.frobenius = arma::norm(s.values);
  return s;
}

Spectrum dense_spectrum(const Problem<double>& problem, const std::string& matrix) {
  if (is_output(matrix)) {
    return dense_spectrum(exact_attention(problem, matrix == "bv" ? Target::softmax : Target::kernelized).output);
  }
  Spectrum s = dense_spectrum(score_matrix(problem, score_matrix_of(matrix)));
  if (matrix == "a") s.log_scale = largest_log_score(problem);
  return s;
}

Spectrum lanczos_spectrum(ScoreOperator scores, const Key& key, const SpectrumSettings& settings) {
  // With the smaller side as columns: vectors are shorter, and no zeros beyond the singular values are counted.
  if (LinearOperator<double>& matrix = scores.matrix; matrix.cols > matrix.rows) {
    std::swap(matrix.rows, matrix.cols);
    std::swap(matrix.apply, matrix.apply_transposed);
  }
  Spectrum s;
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

Spectrum lanczos_spectrum(const arma::mat& matrix, const Key& key, const SpectrumSettings& settings) {
  arma::mat scaled = over_power_of_two(matrix);  // for the squares of norms
  const double unit = power_of_two_below(largest_entry(matrix));
  Spectrum s = lanczos_spectrum({as_operator(std::move(scaled)), 0, frobenius_norm(matrix)}, key, settings);
  s.values *= unit;
  s.residuals *= unit;
  for (double* total : {&s.total, &s.total_lo, &s.total_hi}) *total *= unit;
  return s;
}

void require_finite(const Spectrum& s) {
  const std::string status = status_of({{"singular_value", arma::accu(s.values)},
                                        {"frobenius", s.frobenius},
                                        {"log_scale", s.log_scale},
                                        {"cumulative", s.total, true}});
  if (status != "ok") throw std::runtime_error(status);
}

// At most 1 with rounding; not a number for a matrix of zeros.
double share(double sum, double total) {
  const double quotient = sum / total;
  return quotient > 1 ? 1 : quotient;
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
    row.cumulative = share(sum, s.total);
    row.cumulative_lo = share(sum, s.total_hi);
    row.cumulative_hi = share(sum, s.total_lo);
    row.frobenius = s.frobenius;
    row.log_scale = s.log_scale;
  }
  return rows;
}

// Of what `measure` finds; the reason as one row where it fails.
template <typename Measure>
std::vector<SpectrumRow> guarded_rows(SpectrumRow common, const Measure& measure) {
  try {
    const Spectrum s = measure();
    require_finite(s);
    return rows_of(s, common);
  } catch (const std::exception& failure) {
    common.index = 1;
    common.status = reason_of(failure);
    return {common};
  }
}

}  // namespace

bool is_output(const std::string& matrix) {
  return matrix == "bv" || matrix == "cv";
}

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
        "several; the file of `--matrix`"},
       &SpectrumRow::input},
      {{"matrix", Role::curve,
        "`a`, A / max a_ij; `b`, `c`, the score matrices B and C; `bv`, `cv`, the outputs; the file "
        "of `--matrix`"},
       &SpectrumRow::matrix},
      {{"n", Role::subject,
        "number of tokens, without padding; of keys, where queries are others; of a file, rows of the matrix"},
       &SpectrumRow::n},
      {{"p", Role::subject, "width of queries and keys; of a file, columns of the matrix"}, &SpectrumRow::p},
      {{"method", Role::subject,
        "`dense`: all singular values, by LAPACK. `lanczos`: the `--leading` largest, by the Golub-Kahan-Lanczos "
        "method without storing an n x n matrix. The second is used for score matrices above n = 4096 (of other "
        "numbers of queries than of keys: with as many entries), for a file whose rows and columns are both more than "
        "that, or with `--method lanczos`. The outputs are always dense"},
       &SpectrumRow::method},
      {{"index", Role::part, "k, from 1", "k"}, &SpectrumRow::index},
      {{"singular_value", Role::number, "σ_k, in descending order"}, &SpectrumRow::singular_value},
      {{"residual", Role::number,
        "a true singular value lies within this distance of `singular_value`. It is 0 for dense, where the error is "
        "max(rows, columns) u σ_1. Entries of C are accurate to u times the largest squared norm about the mean of the "
        "points, and at worst to 128 u ([limitations](limitations.md))"},
       &SpectrumRow::residual},
      {{"cumulative", Role::number, "(σ_1 + ... + σ_k) / (the sum of all); `NA` if all are zero"},
       &SpectrumRow::cumulative},
      {{"cumulative_lo", Role::number,
        "for dense, the same as `cumulative`. For lanczos, the sum of the singular values that were not computed is "
        "estimated by stochastic Lanczos quadrature with `--probes` vectors: the lower end of a 95 % Student interval "
        "over the probes, widened by the error of the quadrature. It is asymptotic in the number of probes, and too "
        "short where few of the values that were not computed carry the rest"},
       &SpectrumRow::cumulative_lo},
      {{"cumulative_hi", Role::number, "the upper end"}, &SpectrumRow::cumulative_hi},
      {{"frobenius", Role::number, "‖·‖_F, exact, because squared scores are scores too"}, &SpectrumRow::frobenius},
      {{"log_scale", Role::number,
        "for `a`: log max a_ij, so that A is e^`log_scale` times the matrix that was measured. 0 for all others"},
       &SpectrumRow::log_scale},
      {{"seed", Role::note, "`--seed`"}, &SpectrumRow::seed},
      {{"status", Role::note, "`ok`, or the reason of a failure; such a row has no numbers"}, &SpectrumRow::status},
      {sequence_column(), &SpectrumRow::sequence},
      {layer_column(), &SpectrumRow::layer},
      {head_column(), &SpectrumRow::head},
      {{"n_q", Role::subject,
        "number of queries, and of rows of the matrix. It is `n`, except where queries are others"},
       &SpectrumRow::n_q}};
  return columns;
}

Key spectrum_key(std::uint64_t seed, const std::string& kind) {
  return Key(seed).child("spectrum").child(kind);
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
  const auto side = static_cast<arma::uword>(  // of a square matrix with as many entries
      std::sqrt(static_cast<double>(tokens.n_q) * static_cast<double>(tokens.n_k)));
  const bool lanczos = runs_lanczos(side, settings) && !is_output(matrix);
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
  return guarded_rows(common, [&] {
    if (!plan.lanczos) return dense_spectrum(problem, matrix);
    return lanczos_spectrum(score_operator(problem, score_matrix_of(matrix)), key.child(matrix), settings);
  });
}

SpectrumPlan plan_spectrum(const arma::mat& matrix, const SpectrumSettings& settings) {
  const arma::uword all = std::min(matrix.n_rows, matrix.n_cols);
  const bool lanczos = runs_lanczos(all, settings);
  return {lanczos, lanczos ? std::min(all, settings.leading) : all};
}

std::vector<SpectrumRow> matrix_spectrum(const arma::mat& matrix, const Key& key, const SpectrumSettings& settings) {
  const SerialBlas serial;
  require(!matrix.is_empty(), "spectrum", "a matrix with entries", {{"rows", matrix.n_rows}, {"cols", matrix.n_cols}});
  const SpectrumPlan plan = plan_spectrum(matrix, settings);
  SpectrumRow common;
  common.n = common.n_q = matrix.n_rows;
  common.p = matrix.n_cols;
  common.method = plan.lanczos ? "lanczos" : "dense";
  return guarded_rows(common, [&] {
    if (!plan.lanczos) return dense_spectrum(matrix);
    return lanczos_spectrum(matrix, key, settings);
  });
}

}  // namespace croquis
