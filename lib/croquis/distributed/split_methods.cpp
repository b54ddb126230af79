#include <fmt/format.h>

#include <cmath>
#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/kernelized_scores.hpp>
#include <croquis/attention/performer.hpp>
#include <croquis/attention/v_mean.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/distributed/split_methods.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <memory>
#include <stdexcept>
#include <utility>

namespace croquis {
namespace {

double largest(double own, const Communicator& world) {
  arma::mat value(1, 1);
  value(0) = own;
  world.maximum(value);
  return value(0);
}

// Own queries and one key, whose value is the mean of all.
SplitApproximation split_v_mean(const SplitHead& head, arma::uword, const Key&, const Communicator& world) {
  arma::mat mean = arma::sum(head.v, 0);
  world.sum(mean);
  mean /= static_cast<double>(head.n);
  return {v_mean(Problem<double>(head.q, arma::mat(1, head.q.n_cols, arma::fill::zeros), mean)).output, {}};
}

// The d keys and values that the projections leave are small enough for all ranks.
SplitApproximation split_linformer(const SplitHead& head, arma::uword d, const Key& draw_key,
                                   const Communicator& world) {
  const SerialBlas serial;
  require(d >= 1 && d <= head.n, "linformer", "1 <= d <= n", {{"d", d}, {"n", head.n}});
  const arma::mat k = split_left(GaussianSketch(head.n, d, draw_key.child("E")), head.k, head.first, world);
  const arma::mat v = split_left(GaussianSketch(head.n, d, draw_key.child("F")), head.v, head.first, world);
  return {softmax_product<double>(head.q, k, v), {}};
}

// Own queries and keys among the points of the whole lift.
LiftedPoints<double> split_lift(const SplitHead& head, const Communicator& world) {
  const auto q = std::make_shared<const arma::mat>(head.q), k = std::make_shared<const arma::mat>(head.k);
  const double scale = std::pow(static_cast<double>(head.q.n_cols), -0.25);
  arma::mat centre = scale / static_cast<double>(2 * head.n) * (arma::sum(head.q, 0) + arma::sum(head.k, 0));
  world.sum(centre);
  const LiftedPoints<double> own(q, k, centre.row(0));
  return {q, k, centre.row(0), largest(own.largest_squared_norm(), world)};
}

KernelizedScores<double> split_scores(const SplitHead& head, arma::uword d, const Key& draw_key,
                                      const Communicator& world) {
  require(d >= 1 && d <= 2 * head.n, "skyformer", "1 <= d <= 2n", {{"d", d}, {"n", head.n}});
  const SkyformerOptions options;  // uniform landmarks: the draw asks for the number of points alone
  KernelMatrix<double> points;
  points.n = 2 * head.n;
  const LandmarkSampler<double> sampler(points, options.landmarks);
  const auto rows_of = [&](const arma::uvec& indices) {
    const arma::uvec of_keys = arma::find(indices >= head.n), of_queries = arma::find(indices < head.n);
    arma::mat rows(indices.n_elem, head.q.n_cols);
    rows.rows(of_queries) = gather_rows(head.q, head.first, indices(of_queries), world);
    rows.rows(of_keys) = gather_rows(head.k, head.first, indices(of_keys) - head.n, world);
    return rows;
  };
  arma::mat landmarks =
      distinct_where_it_is_better<double>(sampler.draw(d, draw_key.child("landmarks")), options, rows_of).rows;
  return {split_lift(head, world), std::move(landmarks), d, options};
}

SplitApproximation split_skyformer(const SplitHead& head, arma::uword d, const Key& draw_key,
                                   const Communicator& world) {
  const SerialBlas serial;
  const KernelizedScores<double> scores = split_scores(head, d, draw_key, world);
  arma::mat gathered = scores.gather(head.v);
  world.sum(gathered);
  return {scores.spread(gathered), {}};
}

SplitApproximation split_skyformer_softmax(const SplitHead& head, arma::uword d, const Key& draw_key,
                                           const Communicator& world) {
  const SerialBlas serial;
  const arma::vec log_key = log_prefactors(head.k);
  const double top = largest(log_key.max(), world);
  const KernelizedScores<double> scores = split_scores(head, d, draw_key, world);
  arma::mat gathered = scores.gather(weighted_values<double>(head.v, arma::exp(log_key - top)));
  world.sum(gathered);
  SoftmaxRows<double> rows = softmax_rows(scores, gathered);
  arma::mat lost = {static_cast<double>(rows.zero), static_cast<double>(rows.rounded)};  // all ranks fail when one does
  world.sum(lost);
  require_denominators(static_cast<arma::uword>(lost(0)), static_cast<arma::uword>(lost(1)));
  return {std::move(rows.output), Denominators<double>{std::move(rows.sums), log_prefactors(head.q) + top}};
}

// As checked_denominators. All ranks fail when one does.
void require_row_sums(const arma::vec& sums, const Communicator& world) {
  arma::mat lost(1, 1);
  lost(0) = static_cast<double>(sums.n_elem -
                                arma::accu(arma::abs(sums) >= kLeastSum<double> && arma::abs(sums) < arma::datum::inf));
  world.sum(lost);
  if (lost(0) > 0) {
    throw std::runtime_error(
        fmt::format("performer: {} estimated row sums are zero, nearly zero or not finite", lost(0)));
  }
}

SplitApproximation split_performer(const SplitHead& head, arma::uword d, const Key& draw_key,
                                   const FeatureOptions& options, const Communicator& world) {
  const SerialBlas serial;
  const Problem<double> own(head.q, head.k, head.v);
  const FeaturePair<double> features = softmax_features(own, d, options, draw_key.child("features"));
  arma::mat key_shifts = features.key_shifts();
  world.maximum(key_shifts);
  const FeaturePair<double>::Shifts shifts = features.shifts(key_shifts);
  arma::mat sums = features.key_sums(head.v, shifts);
  world.sum(sums);
  FeaturePair<double>::Attended attended = features.attend_sums(sums, shifts);
  require_row_sums(attended.sums, world);
  return {std::move(attended.output), Denominators<double>{std::move(attended.sums), std::move(attended.log_scale)}};
}

}  // namespace

const std::vector<std::string>& split_method_names() {
  static const std::vector<std::string> names = {"v-mean", "linformer", "skyformer", "skyformer-softmax", "performer"};
  return names;
}

SplitMethod split_method(const std::string& name, const OptionValues& options) {
  if (name == "performer") {
    require(!options.all().contains("preset"), "performer by rows", "map, projection and epsilon, but no preset");
    const FeatureOptions chosen = feature_options(kPerformerFeatures).read(options);
    require(!is_fitted(chosen.map), "performer by rows",
            "a map that does not look at all points: prf, trf, hyperbolic or sphere", {{"map", name_of(chosen.map)}});
    return [chosen](const SplitHead& head, arma::uword d, const Key& draw_key, const Communicator& world) {
      return split_performer(head, d, draw_key, chosen, world);
    };
  }
  require(options.all().empty(), "by rows", "a method without options", {{"method", std::string_view(name)}});
  if (name == "v-mean") return split_v_mean;
  if (name == "linformer") return split_linformer;
  if (name == "skyformer") return split_skyformer;
  if (name == "skyformer-softmax") return split_skyformer_softmax;
  throw std::invalid_argument(
      fmt::format("--methods: {} is not divided by rows; there are {}", name, fmt::join(split_method_names(), ", ")));
}

}  // namespace croquis
