#include <algorithm>
#include <cmath>
#include <croquis/attention/column_adjoint.hpp>
#include <croquis/attention/column_scores.hpp>
#include <croquis/attention/skeinformer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/kernel/softmax_adjoint.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/column_norms.hpp>
#include <croquis/sampling/pilot.hpp>
#include <memory>
#include <utility>

namespace croquis {
namespace {

using Columns = SkeinformerOptions::Columns;
using Rows = SkeinformerOptions::Rows;

bool needs_row_sums(const SkeinformerOptions& options) {
  return options.rows == Rows::weighted || options.rows == Rows::raw;
}

template <typename T>
RowSums<T> row_sums_of(const Problem<T>& problem, const SkeinformerOptions& options) {
  if (!needs_row_sums(options)) return {};
  return column_norms(problem.Q(), problem.K()).row_sums;
}

// Scores of the sampled columns to weights of a row that sums to 1.
template <typename T>
ColumnScores<T> normalised_columns(const Problem<T>& problem, arma::uvec columns, bool adaptive) {
  ColumnScores<T> scores;
  scores.weights = scores_transposed<T>(problem.Q(), problem.K().rows(columns));
  scores.columns = std::move(columns);
  scores.n_k = problem.n_k();
  const arma::uword n_q = scores.weights.n_cols, d = scores.weights.n_rows;
  if (adaptive) scores.rest.set_size(n_q);
  parallel_for(n_q, 4 * d, [&](std::size_t i) {
    T* row = scores.weights.colptr(i);
    const T top = maximum(row, d);
    const T geometric_mean = adaptive ? std::exp(arma::mean(scores.weights.col(i)) - top) : T(0);
    const T sum = exp_shifted(row, d, top) + static_cast<T>(scores.n_k - d) * geometric_mean;
    scores.weights.col(i) /= sum;
    if (adaptive) scores.rest[i] = geometric_mean / sum;
  });
  return scores;
}

// The same rows as a softmax, with no weight in memory. A row's geometric mean is exp of the query with the mean of the
// sampled keys: n_k - d times a key of its own, whose value is the mean of those that were not sampled.
template <typename T>
struct SampledTokens {
  arma::Mat<T> keys, values;
  arma::Col<T> log_weights;
  arma::uword others = 0;  // keys that the last row stands for; 0: it is not there

  SampledTokens(const Problem<T>& problem, const arma::uvec& columns, bool adaptive)
      : keys(problem.K().rows(columns)), values(problem.V().rows(columns)) {
    const arma::uword d = columns.n_elem;
    others = adaptive ? problem.n_k() - d : 0;
    if (others == 0) return;
    const auto count = static_cast<T>(others);
    keys.insert_rows(d, arma::mean(keys, 0));
    values.insert_rows(d, (column_sums(problem.V()) - column_sums(values)) / count);
    log_weights.zeros(d + 1);
    log_weights(d) = std::log(count);
  }
};

// The derivatives with the rows `known` of the output exact, columns and rows held constant.
template <typename T>
Gradient<T> normalised_gradient(const Problem<T>& problem, const arma::uvec& columns, bool adaptive,
                                const arma::uvec& known, const arma::Mat<T>& cotangent) {
  const arma::uword d = columns.n_elem;
  const arma::uvec rows = arma::unique(known);
  arma::Mat<T> of_sampled = cotangent;
  of_sampled.rows(rows).zeros();
  const SampledTokens<T> tokens(problem, columns, adaptive);
  SoftmaxAdjoint<T> of = softmax_adjoint<T>(problem.Q(), tokens.keys, tokens.values, of_sampled, tokens.log_weights);
  Gradient<T> gradient{std::move(of.q),
                       arma::Mat<T>(problem.n_k(), problem.p(), arma::fill::zeros),
                       arma::Mat<T>(problem.n_k(), problem.p_v(), arma::fill::zeros),
                       {}};
  if (tokens.others > 0) {
    gradient.v.each_row() += of.x.row(d) / static_cast<T>(tokens.others);
    gradient.v.rows(columns).zeros();
    of.k.head_rows(d).each_row() += arma::Row<T>(of.k.row(d)) / static_cast<T>(d);
  }
  gradient.k.rows(columns) += of.k.head_rows(d);
  gradient.v.rows(columns) += of.x.head_rows(d);
  if (rows.is_empty()) return gradient;
  const SoftmaxAdjoint<T> exact =
      softmax_adjoint<T>(problem.Q().rows(rows), problem.K(), problem.V(), arma::Mat<T>(cotangent.rows(rows)));
  gradient.q.rows(rows) += exact.q;
  gradient.k += exact.k;
  gradient.v += exact.x;
  return gradient;
}

// row_sums: the exact D, or empty where that is not needed.
template <typename T>
Approximation<T> approximate(const Problem<T>& problem, const RowSums<T>& row_sums, arma::uword d, const Key& draw_key,
                             const SkeinformerOptions& options) {
  const arma::uword n_k = problem.n_k();
  require(d >= 1 && d <= n_k, "skeinformer", "1 <= d <= n_k", {{"d", d}, {"n_k", n_k}});
  if (options.leave_one) d = std::min(d, std::max<arma::uword>(n_k - 1, 1));
  const bool by_softmax = options.rows == Rows::adaptive || options.rows == Rows::simple;
  Pilot<T> pilot;
  if (options.columns == Columns::pilot) {
    const arma::uword pilots = options.pilot_rows == 0 ? d : options.pilot_rows;
    pilot = pilot_sample(problem.Q(), problem.K(), problem.V(), pilots, draw_key.child("pilot"),
                         options.reuse && by_softmax);
  } else {
    pilot.weights.ones(n_k);
  }
  const auto known = std::make_shared<const arma::uvec>(options.reuse ? pilot.rows : arma::uvec());
  const auto with_known = [problem, known](ColumnScores<T> scores) {
    scores.rows = *known;
    if (!known->is_empty()) scores.row_scores = softmax_transposed<T>(problem.Q().rows(*known), problem.K());
    return as_operator(std::move(scores));
  };
  // D^-1 A S S^T V, whose rows have no sum of their own.
  const auto from_columns = [&](ColumnScores<T> scores, ColumnWeights weights) {
    const SampledColumns<T> sampled{scores.columns, row_sums, weights, pilot.rows, *known};
    Approximation<T> approximation = from_scores(with_known(std::move(scores)), problem);
    approximation.adjoint = adjoint_of<T>(problem, [problem, sampled](const arma::Mat<T>& cotangent) {
      return sampled_columns_gradient(problem, sampled, cotangent);
    });
    return approximation;
  };
  const Key draw = draw_key.child("columns");
  if (options.rows == Rows::weighted) {
    return from_columns(importance_columns<T>(problem.Q(), problem.K(), row_sums, std::move(pilot.weights), d, draw),
                        options.columns == Columns::pilot ? ColumnWeights::pilot : ColumnWeights::uniform);
  }
  arma::uvec columns = options.columns == Columns::pilot ? sample_weighted_without_replacement(pilot.weights, d, draw)
                                                         : sample_without_replacement(n_k, d, draw);
  if (options.rows == Rows::raw) {
    ColumnScores<T> scores;
    scores.n_k = n_k;
    scores.weights = scores_transposed<T>(problem.Q(), problem.K().rows(columns));
    exponentiate(scores.weights, row_sums);
    scores.columns = std::move(columns);
    return from_columns(std::move(scores), ColumnWeights::none);
  }
  const bool adaptive = options.rows == Rows::adaptive;
  Approximation<T> approximation;
  const SampledTokens<T> tokens(problem, columns, adaptive);
  Denominators<T>& denominators = approximation.denominators.emplace();
  approximation.output =
      softmax_product<T>(problem.Q(), tokens.keys, tokens.values,
                         {.row_maxima = &denominators.log_scale, .sums = &denominators.values}, tokens.log_weights);
  if (options.reuse) approximation.output.rows(pilot.rows) = pilot.output;
  approximation.adjoint = adjoint_of<T>(problem, [=](const arma::Mat<T>& cotangent) {
    return normalised_gradient(problem, columns, adaptive, *known, cotangent);
  });
  approximation.scores = deferred<T>(problem.n_q(), n_k, [=, columns = std::move(columns)] {
    return with_known(normalised_columns(problem, columns, adaptive));
  });
  return approximation;
}

using SkeinformerTable = Options<SkeinformerOptions>;

// The authors' code: at most n - 1 columns and pilot rows; in the ablations no pilot rows in the output, no weights.
SkeinformerOptions code_of(SkeinformerOptions options, bool is_ablation) {
  options.leave_one = true;
  if (is_ablation) options.reuse = false;
  if (options.rows == Rows::weighted) options.rows = Rows::raw;
  return options;
}

// The options of a method that starts from `start`: which of them it has depends on what is left to choose.
SkeinformerTable options_of(const SkeinformerOptions& start, bool is_ablation, const char* effect_of_code) {
  SkeinformerTable options(start);
  options.preset(effect_of_code, {{"paper", start}, {"code", code_of(start, is_ablation)}});
  if (start.rows == Rows::weighted) {
    options.choice("weights", &SkeinformerOptions::rows,
                   Choices<Rows>{{"unbiased", Rows::weighted}, {"raw", Rows::raw}},
                   "1/(d p_i) on independent columns, or none on different ones: biased");
  }
  if (start.rows != Rows::adaptive) options.flag("reuse", &SkeinformerOptions::reuse, "pilot rows exact");
  if (start.columns == Columns::pilot) {
    options.count("pilot", &SkeinformerOptions::pilot_rows, 0, 1000000, "pilot rows d_0; 0: as many as columns");
  }
  return options;
}

// The five methods differ in name and in where their options start.
template <typename T>
Method<T> method_of(const char* name, const char* summary, const char* source, const SkeinformerOptions& start,
                    bool is_ablation, const char* effect_of_code) {
  Method<T> method;
  method.name = name;
  method.summary = summary;
  method.source = source;
  const SkeinformerTable options = options_of(start, is_ablation, effect_of_code);
  method.options = options.infos();
  const auto read = [options](const OptionValues& values) { return options.read(values); };
  method.rectangular = method.adjoint = always(true);
  method.rowwise = [read](const OptionValues& values) { return read(values).columns == Columns::uniform; };
  method.quadratic = [read](const OptionValues& values) { return needs_row_sums(read(values)); };
  method.rows_sum_to_one = [read](const OptionValues& values) { return !needs_row_sums(read(values)); };
  // Columns that were not sampled count with the mean of the others, which is theirs.
  method.exact_on_equal_tokens = [read](const OptionValues& values) { return read(values).rows == Rows::adaptive; };
  method.largest_d = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  // Different columns: all of them, unless one is left out.
  method.exact_at = [read](TokenAlignment shape, const OptionValues& values) -> std::optional<arma::uword> {
    const SkeinformerOptions chosen = read(values);
    if (chosen.rows == Rows::weighted || chosen.leave_one) return std::nullopt;
    return shape.n_k;
  };
  method.prepare = [options](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const SkeinformerOptions chosen = options.read(values);
    const RowSums<T> row_sums = row_sums_of(problem, chosen);
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v()),
               fixed = static_cast<double>(chosen.pilot_rows);
    return {[=](arma::uword d, const Key& draw_key) { return approximate(problem, row_sums, d, draw_key, chosen); },
            [=](double d) {
              const double pilots = chosen.columns == Columns::uniform ? 0 : fixed > 0 ? fixed : d;
              // Without a softmax over the columns the pilot rows are computed again for the output.
              const double again = needs_row_sums(chosen) ? n_k * pilots * (2 * p + 1) : 0;
              const double reused = chosen.reuse ? 2 * n_k * pilots * p_v + again : 0;
              const double exact = needs_row_sums(chosen) ? n_q * n_k * (2 * p + 1) : 0;
              return 2 * n_q * d * (p + p_v) + 2 * n_k * pilots * p + reused + n_q * d + 3 * n_k * pilots + exact;
            }};
  };
  return method;
}

}  // namespace

template <typename T>
Approximation<T> skeinformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                             const SkeinformerOptions& options) {
  return approximate(problem, row_sums_of(problem, options), d, draw_key, options);
}

template <typename T>
Method<T> skeinformer_method() {
  return method_of<T>("skeinformer", "columns sampled by a pilot, the others filled with the row's geometric mean",
                      "Skeinformer Alg. 1", {}, false, "code: at most n - 1 columns and pilot rows");
}

template <typename T>
Method<T> skeinformer_uniform_method() {
  return method_of<T>("skeinformer-uniform", "skeinformer with uniform columns, without a pilot", "Skeinformer Table 1",
                      {.columns = Columns::uniform, .reuse = false}, true, "code: at most n - 1 columns");
}

template <typename T>
Method<T> skeinformer_no_norm_method() {
  return method_of<T>("skeinformer-no-norm", "skeinformer without row normalisation: D^-1 A S S^T V, exact D",
                      "Skeinformer Table 1", {.rows = Rows::weighted}, true,
                      "code: weights=raw, reuse=no, at most n - 1 columns");
}

template <typename T>
Method<T> skeinformer_simple_norm_method() {
  return method_of<T>("skeinformer-simple-norm", "skeinformer with a softmax over the sampled columns alone",
                      "Skeinformer Table 1", {.rows = Rows::simple}, true, "code: reuse=no, at most n - 1 columns");
}

template <typename T>
Method<T> skeinformer_no_reuse_method() {
  return method_of<T>("skeinformer-no-reuse", "skeinformer whose pilot rows are not put into the output",
                      "Skeinformer Table 1", {.reuse = false}, true, "code: at most n - 1 columns and pilot rows");
}

template Approximation<float> skeinformer(const Problem<float>&, arma::uword, const Key&, const SkeinformerOptions&);
template Approximation<double> skeinformer(const Problem<double>&, arma::uword, const Key&, const SkeinformerOptions&);
template Method<float> skeinformer_method();
template Method<double> skeinformer_method();
template Method<float> skeinformer_uniform_method();
template Method<double> skeinformer_uniform_method();
template Method<float> skeinformer_no_norm_method();
template Method<double> skeinformer_no_norm_method();
template Method<float> skeinformer_simple_norm_method();
template Method<double> skeinformer_simple_norm_method();
template Method<float> skeinformer_no_reuse_method();
template Method<double> skeinformer_no_reuse_method();

}  // namespace croquis
