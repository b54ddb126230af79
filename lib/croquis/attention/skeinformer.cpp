#include <cmath>
#include <croquis/attention/skeinformer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/sampling/indices.hpp>
#include <croquis/sampling/pilot.hpp>
#include <memory>
#include <utility>

namespace croquis {
namespace {

// B~ in parts. Rows in `pilot_rows` are those of pilot_scores; the others are
// (weights_i on the columns J', rest_i on every other column).
template <typename T>
struct SampledRows {
  arma::uvec columns;         // J'
  arma::Mat<T> weights;       // d x n: a_ik / denominator, a query a column
  arma::Row<T> rest;          // g_i / denominator
  arma::uvec pilot_rows;      // J
  arma::Mat<T> pilot_scores;  // n x d_0: rows J of B, transposed

  arma::Mat<T> apply(const arma::Mat<T>& x) const {
    const arma::Mat<T> selected = x.rows(columns);
    const arma::Row<T> others = arma::sum(x, 0) - arma::sum(selected, 0);
    arma::Mat<T> y = weights.t() * selected + rest.t() * others;
    y.rows(pilot_rows) = pilot_scores.t() * x;
    return y;
  }

  arma::Mat<T> apply_transposed(arma::Mat<T> x) const {
    // Row j of J may stand in it twice; it is one row of B~.
    arma::Mat<T> pilot(pilot_rows.n_elem, x.n_cols, arma::fill::zeros);
    for (arma::uword k = 0; k < pilot_rows.n_elem; ++k) {
      pilot.row(k) = x.row(pilot_rows(k));
      x.row(pilot_rows(k)).zeros();
    }
    const arma::Row<T> common = rest * x;
    arma::Mat<T> y = pilot_scores * pilot;
    y.each_row() += common;
    y.rows(columns) += weights * x;
    y.rows(columns) -= arma::repmat(common, columns.n_elem, 1);
    return y;
  }
};

}  // namespace

template <typename T>
Approximation<T> skeinformer(const Problem<T>& problem, arma::uword d, const Stream& stream,
                             const SkeinformerOptions& options) {
  const arma::uword n = problem.n();
  require(d >= 1 && d <= n, "skeinformer", "1 <= d <= n", {{"d", d}, {"n", n}});
  const auto sampled = std::make_shared<SampledRows<T>>();

  const arma::uword pilots = options.pilot_rows == 0 ? d : options.pilot_rows;
  Pilot<T> pilot = pilot_sample(problem.Q(), problem.K(), problem.V(), pilots, stream.child("pilot"));
  sampled->columns = sample_weighted_without_replacement(pilot.weights, d, stream.child("columns"));
  sampled->pilot_rows = std::move(pilot.rows);
  sampled->pilot_scores = std::move(pilot.scores);

  sampled->weights = scores_transposed<T>(problem.Q(), problem.K().rows(sampled->columns));
  sampled->rest.set_size(n);
  Denominators<T> denominators{arma::Col<T>(n), arma::Col<T>(n)};
  for (arma::uword i = 0; i < n; ++i) {
    T* row = sampled->weights.colptr(i);
    const T top = maximum(row, d);
    const T geometric_mean = std::exp(arma::mean(sampled->weights.col(i)) - top);
    const T sum = exp_shifted(row, d, top) + static_cast<T>(n - d) * geometric_mean;
    sampled->weights.col(i) /= sum;
    sampled->rest(i) = geometric_mean / sum;
    denominators.values(i) = sum;
    denominators.log_scale(i) = top;
  }

  Approximation<T> approximation =
      from_scores<T>({n, n, [sampled](const arma::Mat<T>& x) { return sampled->apply(x); },
                      [sampled](const arma::Mat<T>& x) { return sampled->apply_transposed(x); }},
                     problem);
  approximation.denominators = std::move(denominators);
  return approximation;
}

template <typename T>
Method<T> skeinformer_method() {
  Method<T> method;
  method.name = "skeinformer";
  method.summary = "columns sampled by a pilot, the others filled with the row's geometric mean";
  method.source = "Skeinformer Alg. 1";
  method.options = {{"pilot", "0 to 1000000", "0", "pilot rows d_0; 0: as many as columns"}};
  method.bind = [](const Problem<T>& problem, const OptionValues& values) -> BoundMethod<T> {
    SkeinformerOptions options;
    options.pilot_rows = static_cast<arma::uword>(values.take_count("pilot", 0, 1000000, 0));
    const auto n = static_cast<double>(problem.n()), p = static_cast<double>(problem.p()),
               p_v = static_cast<double>(problem.p_v()), fixed = static_cast<double>(options.pilot_rows);
    return {[=](arma::uword d, const Stream& stream) { return skeinformer(problem, d, stream, options); },
            [=](double d) {
              const double pilots = fixed > 0 ? fixed : d;
              return 2 * n * (d + pilots) * (p + p_v) + n * (d + pilots) + 2 * n * pilots;
            }};
  };
  return method;
}

template Approximation<float> skeinformer(const Problem<float>&, arma::uword, const Stream&, const SkeinformerOptions&);
template Approximation<double> skeinformer(const Problem<double>&, arma::uword, const Stream&,
                                           const SkeinformerOptions&);
template Method<float> skeinformer_method();
template Method<double> skeinformer_method();

}  // namespace croquis
