#include <croquis/attention/column_adjoint.hpp>
#include <croquis/attention/column_scores.hpp>
#include <croquis/attention/sampled_columns.hpp>
#include <croquis/core/require.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/sampling/column_norms.hpp>
#include <croquis/sampling/pilot.hpp>
#include <memory>
#include <utility>

namespace croquis {
namespace {

using ColumnProbabilities = SampledColumnsOptions::Probabilities;

template <typename T>
Approximation<T> approximate(const Problem<T>& problem, const ColumnNorms<T>& exact, arma::uword d, const Key& draw_key,
                             const SampledColumnsOptions& options) {
  require(d >= 1 && d <= problem.n_k(), "sampled-columns", "1 <= d <= n_k", {{"d", d}, {"n_k", problem.n_k()}});
  SampledColumns<T> sampled;
  sampled.row_sums = exact.row_sums;
  sampled.weights = ColumnWeights::uniform;
  arma::Col<T> weights(problem.n_k(), arma::fill::ones);
  if (options.probabilities == ColumnProbabilities::exact) {
    weights = exact.norms % row_norms(problem.V());
    sampled.weights = ColumnWeights::exact;
  } else if (options.probabilities == ColumnProbabilities::pilot) {
    const arma::uword pilots = options.pilot_rows == 0 ? d : options.pilot_rows;
    Pilot<T> pilot = pilot_sample(problem.Q(), problem.K(), problem.V(), pilots, draw_key.child("pilot"));
    weights = std::move(pilot.weights);
    sampled.weights = ColumnWeights::pilot;
    sampled.pilot = std::move(pilot.rows);
  }
  ColumnScores<T> scores =
      importance_columns<T>(problem.Q(), problem.K(), exact.row_sums, std::move(weights), d, draw_key.child("columns"));
  sampled.columns = scores.columns;
  Approximation<T> approximation = from_scores(as_operator(std::move(scores)), problem);
  approximation.adjoint =
      adjoint_of<T>(problem, [problem, sampled = std::move(sampled)](const arma::Mat<T>& cotangent) {
        return sampled_columns_gradient(problem, sampled, cotangent);
      });
  return approximation;
}

const Options<SampledColumnsOptions>& options_of_sampled_columns() {
  using O = SampledColumnsOptions;
  static const Options<O> options =
      Options<O>()
          .choice("p", &O::probabilities, in_order<ColumnProbabilities>({"pilot", "exact", "uniform"}),
                  "probabilities of the columns")
          .count("pilot", &O::pilot_rows, 0, 1000000, "p=pilot: rows d_0; 0: as many as columns");
  return options;
}

}  // namespace

SampledColumnsOptions sampled_columns_options(const OptionValues& values) {
  return options_of_sampled_columns().read(values);
}

template <typename T>
Approximation<T> sampled_columns(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                 const SampledColumnsOptions& options) {
  return approximate(problem, column_norms(problem.Q(), problem.K()), d, draw_key, options);
}

template <typename T>
Method<T> sampled_columns_method() {
  Method<T> method;
  method.name = "sampled-columns";
  method.summary = "D^-1 A S S^T V on sampled columns, exact D, weights 1/(d p_i): unbiased, quadratic in n";
  method.quadratic = always(true);
  method.source = "Skeinformer Prop. 1";
  method.options = options_of_sampled_columns().infos();
  method.rectangular = method.adjoint = always(true);
  method.rowwise = [](const OptionValues& values) {
    return options_of_sampled_columns().read(values).probabilities == ColumnProbabilities::uniform;
  };
  method.largest_d = [](TokenAlignment shape, const OptionValues&) { return shape.n_k; };
  method.prepare = [](const Problem<T>& problem, const OptionValues& values) -> PreparedMethod<T> {
    const SampledColumnsOptions options = options_of_sampled_columns().read(values);
    const auto exact = std::make_shared<const ColumnNorms<T>>(column_norms(problem.Q(), problem.K()));
    const auto n_q = static_cast<double>(problem.n_q()), n_k = static_cast<double>(problem.n_k()),
               p = static_cast<double>(problem.p()), p_v = static_cast<double>(problem.p_v()),
               fixed = static_cast<double>(options.pilot_rows);
    return {[=](arma::uword d, const Key& draw_key) { return approximate(problem, *exact, d, draw_key, options); },
            [=](double d) {
              const double pilots = options.probabilities != ColumnProbabilities::pilot ? 0 : fixed > 0 ? fixed : d;
              return n_q * n_k * (2 * p + 1) + 2 * n_q * d * (p + p_v) + n_q * d + n_k * pilots * (2 * p + 3);
            }};
  };
  return method;
}

template Approximation<float> sampled_columns(const Problem<float>&, arma::uword, const Key&,
                                              const SampledColumnsOptions&);
template Approximation<double> sampled_columns(const Problem<double>&, arma::uword, const Key&,
                                               const SampledColumnsOptions&);
template Method<float> sampled_columns_method();
template Method<double> sampled_columns_method();

}  // namespace croquis
