#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/measure/feature_variance.hpp>
#include <croquis/measure/finite.hpp>
#include <croquis/measure/head_columns.hpp>
#include <croquis/random/draws.hpp>
#include <exception>
#include <utility>

namespace croquis {
namespace {

arma::mat on_sphere(arma::uword count, arma::uword p, const Key& key) {
  arma::mat points(p, count);
  fill_normal(key, 0, points.n_elem, points.memptr());
  return arma::normalise(points).t();
}

// A row of scores by its estimates and by its products x.y; b~ is 0 / 0 where all estimates are 0.
struct ScoreRow {
  arma::rowvec estimate, exact;
  double log_scale = 0;  // estimates are over e^{log_scale}
};

ScoreRow row_of(const FeaturePair<double>::Matrices& matrices, arma::uword i, arma::rowvec exact) {
  const arma::uword keys = exact.n_elem;
  return {arma::rowvec(matrices.queries.row(i) * matrices.keys.t()).head(keys), std::move(exact),
          matrices.log_scale(i)};
}

void set_errors(VarianceRow& row, const FeaturePoints& points, const FeatureOptions& features, const Key& key) {
  const arma::uvec& seen = points.seen;
  require(seen.is_empty() || (seen.n_elem == points.x.n_rows && seen.min() >= 1 && seen.max() <= points.y.n_rows),
          "feature_variance", "a number of seen keys for each query, from 1 to all",
          {{"seen", seen.n_elem}, {"queries", points.x.n_rows}, {"keys", points.y.n_rows}});
  const auto matrices = FeaturePair<double>(points.x, points.y, row.features, features, key).matrices();
  const arma::mat products = points.x * points.y.t();
  double l1 = 0, squared = 0, lemma_2 = 0;
  for (arma::uword i = 0; i < products.n_rows; ++i) {
    const arma::uword keys = seen.is_empty() ? points.y.n_rows : seen[i];
    ScoreRow scores = row_of(matrices, i, products.row(i).head(keys));
    if (keys < points.y.n_rows && std::abs(arma::accu(scores.estimate)) < kLeastSum<double>) {
      // Features of keys that it does not see are so much larger that its own have vanished beside them, or nearly so.
      const FeaturePair<double> own(points.x.row(i), points.y.head_rows(keys), row.features, features, key);
      scores = row_of(own.matrices(), 0, scores.exact);
    }
    const arma::rowvec weights = arma::exp(scores.exact - scores.exact.max());
    l1 += arma::accu(arma::abs(weights / arma::accu(weights) - scores.estimate / arma::accu(scores.estimate)));
    // Relative to exp(x.y): ratio - 1, whose mean square is the variance of an unbiased estimate over exp(2 x.y).
    const arma::rowvec ratio = arma::sign(scores.estimate) %
                               arma::exp(arma::log(arma::abs(scores.estimate)) + scores.log_scale - scores.exact);
    squared += arma::mean(arma::square(ratio - 1));
    arma::mat sums = points.y.head_rows(keys);
    sums.each_row() += points.x.row(i);
    lemma_2 += arma::mean(arma::expm1(arma::sum(arma::square(sums), 1))) / static_cast<double>(row.features);
  }
  const auto rows = static_cast<double>(products.n_rows);
  row.l1_error = l1 / rows;
  row.squared_error = squared / rows;
  row.lemma_2 = lemma_2 / rows;
}

}  // namespace

const Columns<VarianceRow>& variance_columns() {
  static const Columns<VarianceRow> columns = {
      {{"input", Role::key, "`sphere`, or the [input](inputs.md) of the head"}, &VarianceRow::input},
      {{"map", Role::curve, "the feature map (`croquis list features`)"}, &VarianceRow::map},
      {{"projection", Role::curve, "the distribution of the directions"}, &VarianceRow::projection},
      {{"norm", Role::curve,
        "R: the norm of queries and keys on spheres, or a factor by which those of a head are multiplied (after the "
        "p^{-1/4} of attention)",
        "R"},
       &VarianceRow::norm},
      {{"p", Role::subject, "the dimension of the points"}, &VarianceRow::p},
      {{"queries", Role::subject, "the number of queries"}, &VarianceRow::queries},
      {{"keys", Role::subject, "the number of keys"}, &VarianceRow::keys},
      {{"features", Role::axis, "the number of features d", "d"}, &VarianceRow::features},
      {{"trial", Role::draw, "the number of the draw, from 1"}, &VarianceRow::trial},
      {{"seed", Role::note, "`--seed`"}, &VarianceRow::seed},
      {{"l1_error", Role::metric,
        "‖b - b~‖_1 of a row b of scores, normalised to sum 1, the mean over the queries. It is at most 2 for positive "
        "maps; it is "
        "unbounded for `trf`, whose row sums may vanish, and whose mean over draws need not exist",
        "||b - b~||_1 of a row of scores, normalised"},
       &VarianceRow::l1_error},
      {{"squared_error", Role::metric, "the mean of (estimate / exp(x·y) - 1)² over keys, and then over queries",
        "mean of (estimate / exp(x.y) - 1)^2"},
       &VarianceRow::squared_error},
      {{"lemma_2", Role::metric,
        "the expected value of `squared_error` for `prf` with `iid` on these points: the mean of (e^{‖x+y‖²} - 1) / d "
        "(NPRF Lemma 2) over keys and then over queries. On spheres every draw has points of its own. `NA` for other "
        "maps, and if it is above 1e308"},
       &VarianceRow::lemma_2},
      {{"status", Role::note, "`ok`, or the reason of a failure"}, &VarianceRow::status},
      {sequence_column(), &VarianceRow::sequence},
      {layer_column(), &VarianceRow::layer},
      {head_column(), &VarianceRow::head}};
  return columns;
}

FeaturePoints sphere_points(arma::uword queries, arma::uword keys, arma::uword p, double norm, const Key& key) {
  return {norm * on_sphere(queries, p, key.child("query")), norm * on_sphere(keys, p, key.child("key"))};
}

VarianceRow feature_variance(const FeaturePoints& points, arma::uword d, const FeatureOptions& features,
                             const Key& key) {
  const SerialBlas serial;
  VarianceRow row;
  row.p = points.x.n_cols;
  row.queries = points.x.n_rows;
  row.keys = points.y.n_rows;
  row.features = d;
  try {
    set_errors(row, points, features, key);
    row.status = status_of({{"l1_error", row.l1_error}, {"squared_error", row.squared_error}});
  } catch (const std::exception& failure) {
    row.status = reason_of(failure);
  }
  if (row.status != "ok") row.l1_error = row.squared_error = row.lemma_2 = VarianceRow::kUndefined;
  const bool has_formula = features.map == FeatureMap::prf && features.projection == ProjectionDistribution::iid;
  if (!has_formula || !std::isfinite(row.lemma_2)) row.lemma_2 = VarianceRow::kUndefined;
  return row;
}

}  // namespace croquis
