#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/attention/feature_attention.hpp>
#include <croquis/attention/performer.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/distributed/split_methods.hpp>
#include <croquis/kernel/gaussian.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/pseudo_inverse.hpp>
#include <croquis/linalg/rows.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <limits>
#include <memory>
#include <stdexcept>

namespace croquis {
namespace {

constexpr arma::uword kRowsAtOnce = 2048, kDirectionsAtOnce = 64;

template <typename Body>
void for_blocks(arma::uword n, const Body& body) {
  for (arma::uword i = 0; i < n; i += kRowsAtOnce) body(i, std::min(n, i + kRowsAtOnce) - 1);
}

double largest(double own, const Communicator& world) {
  arma::mat value(1, 1);
  value(0) = own;
  world.maximum(value);
  return value(0);
}

SplitApproximation v_mean(const SplitHead& head, arma::uword, const Key&, const Communicator& world) {
  arma::mat sum = arma::sum(head.v, 0);
  world.sum(sum);
  return {arma::repmat(sum / static_cast<double>(head.n), head.own(), 1), {}};
}

SplitApproximation linformer(const SplitHead& head, arma::uword d, const Key& draw_key, const Communicator& world) {
  const SerialBlas serial;
  require(d >= 1 && d <= head.n, "linformer", "1 <= d <= n", {{"d", d}, {"n", head.n}});
  const arma::mat k = split_left(GaussianSketch(head.n, d, draw_key.child("E")), head.k, head.first, world);
  const arma::mat v = split_left(GaussianSketch(head.n, d, draw_key.child("F")), head.v, head.first, world);
  arma::mat output(head.own(), head.v.n_cols);
  for_blocks(head.own(), [&](arma::uword a, arma::uword b) {
    output.rows(a, b) = softmax_transposed<double>(head.q.rows(a, b), k).t() * v;
  });
  return {std::move(output), {}};
}

// Queries and keys of this rank, scaled and moved to the mean of all, and the landmarks among all 2n of them.
struct SplitLift {
  const SplitHead& head;
  double scale;
  arma::rowvec centre;
  arma::mat landmarks;  // as they are given
  double largest_squared_norm = 0;

  MovedPoints<double> moved(const arma::mat& given) const { return {given, scale, &centre}; }
  // kappa(rows a ... b, landmarks)
  arma::mat kernel(const arma::mat& of, arma::uword a, arma::uword b) const {
    const arma::mat rows = of.rows(a, b);
    return gaussian_kernel(moved(rows), moved(landmarks));
  }
};

SplitLift lift_of(const SplitHead& head, const arma::uvec& indices, const Communicator& world) {
  const double scale = std::pow(static_cast<double>(head.q.n_cols), -0.25);
  arma::mat centre = arma::sum(scale * head.q, 0) + arma::sum(scale * head.k, 0);
  world.sum(centre);
  centre /= 2 * static_cast<double>(head.n);
  SplitLift lift{head, scale, centre.row(0), {}};
  const arma::uvec of_keys = arma::find(indices >= head.n), of_queries = arma::find(indices < head.n);
  lift.landmarks.set_size(indices.n_elem, head.q.n_cols);
  lift.landmarks.rows(of_queries) = gather_rows(head.q, head.first, indices(of_queries), world);
  lift.landmarks.rows(of_keys) = gather_rows(head.k, head.first, indices(of_keys) - head.n, world);
  lift.largest_squared_norm =
      largest(std::max(largest_squared_norm(lift.moved(head.q)), largest_squared_norm(lift.moved(head.k))), world);
  return lift;
}

// C~ X = kappa(Q, L) W^+ (kappa(L, K) X), of own rows.
arma::mat nystrom(const SplitLift& lift, const arma::mat& x, const Communicator& world) {
  const SerialBlas serial;
  const arma::uword d = lift.landmarks.n_rows;
  arma::mat gathered(d, x.n_cols, arma::fill::zeros);
  for_blocks(x.n_rows,
             [&](arma::uword a, arma::uword b) { gathered += lift.kernel(lift.head.k, a, b).t() * x.rows(a, b); });
  world.sum(gathered);
  const double cutoff =
      static_cast<double>(d) * std::numeric_limits<double>::epsilon() * gaussian_entry_error(lift.largest_squared_norm);
  const arma::mat core = gaussian_kernel(lift.moved(lift.landmarks));
  const arma::mat inner = pseudo_inverse_psd<double>(core, std::min(cutoff, 0.5)).apply(gathered);
  arma::mat y(x.n_rows, x.n_cols);
  for_blocks(x.n_rows, [&](arma::uword a, arma::uword b) { y.rows(a, b) = lift.kernel(lift.head.q, a, b) * inner; });
  return y;
}

SplitLift drawn_lift(const SplitHead& head, arma::uword d, const Key& draw_key, const Communicator& world) {
  require(d >= 1 && d <= 2 * head.n, "skyformer", "1 <= d <= 2n", {{"d", d}, {"n", head.n}});
  return lift_of(head, sample_with_replacement(2 * head.n, d, draw_key.child("landmarks")), world);
}

SplitApproximation skyformer(const SplitHead& head, arma::uword d, const Key& draw_key, const Communicator& world) {
  return {nystrom(drawn_lift(head, d, draw_key, world), head.v, world), {}};
}

// The output is a sum over its denominators; all ranks fail when one has a zero among them.
SplitApproximation divided(arma::mat sums, arma::vec log_scale, const std::string& name, const Communicator& world) {
  const arma::vec below = sums.tail_cols(1);
  arma::mat lost(1, 1);
  lost(0) = static_cast<double>(below.n_elem - arma::accu(below != 0 && arma::abs(below) < arma::datum::inf));
  world.sum(lost);
  if (lost(0) > 0) {
    throw std::runtime_error(fmt::format("{}: {} estimated row sums are zero or not finite", name, lost(0)));
  }
  arma::mat output = sums.head_cols(sums.n_cols - 1);
  output.each_col() /= below;
  return {std::move(output), Denominators<double>{below, std::move(log_scale)}};
}

SplitApproximation skyformer_softmax(const SplitHead& head, arma::uword d, const Key& draw_key,
                                     const Communicator& world) {
  const double scale = 0.5 / std::sqrt(static_cast<double>(head.q.n_cols));
  const arma::vec log_key = scale * squared_row_norms(head.k);
  const double top = largest(log_key.max(), world);
  const arma::vec weights = arma::exp(log_key - top);
  const arma::mat x = arma::join_rows(head.v.each_col() % weights, weights);
  arma::mat y = nystrom(drawn_lift(head, d, draw_key, world), x, world);
  return divided(std::move(y), scale * squared_row_norms(head.q) + top, "skyformer-softmax", world);
}

SplitApproximation performer(const SplitHead& head, arma::uword d, const Key& draw_key, const FeatureOptions& options,
                             const Communicator& world) {
  const SerialBlas serial;
  const double scale = std::pow(static_cast<double>(head.q.n_cols), -0.25);
  const FeaturePair<double> pair(std::make_shared<const arma::mat>(head.q), std::make_shared<const arma::mat>(head.k),
                                 scale, d, options, draw_key.child("features"));
  arma::mat key_shifts = pair.key_shifts();
  world.maximum(key_shifts);
  const FeaturePair<double>::Shifts shifts = pair.shifts(key_shifts);
  const arma::mat x = arma::join_rows(head.v, arma::vec(head.own(), arma::fill::ones));
  const auto for_features = [&](const auto& body) {  // body(tokens, a, b, directions, columns of S)
    for_blocks(head.own(), [&](arma::uword a, arma::uword b) {
      const arma::uvec tokens = arma::regspace<arma::uvec>(a, b);
      for (arma::uword r = 0; r < pair.directions(); r += kDirectionsAtOnce) {
        const arma::span directions(r, std::min(r + kDirectionsAtOnce, pair.directions()) - 1);
        arma::uvec columns = arma::regspace<arma::uvec>(directions.a, directions.b);
        if (pair.functions() == 2) columns = arma::join_cols(columns, columns + pair.directions());
        body(tokens, a, b, directions, columns);
      }
    });
  };
  arma::mat s(pair.count(), x.n_cols, arma::fill::zeros);
  for_features([&](const auto& tokens, arma::uword a, arma::uword b, arma::span directions, const auto& columns) {
    s.rows(columns) += pair.keys(tokens, directions, shifts).t() * x.rows(a, b);
  });
  world.sum(s);
  arma::mat sums(head.own(), x.n_cols, arma::fill::zeros);
  for_features([&](const auto& tokens, arma::uword a, arma::uword b, arma::span directions, const auto& columns) {
    sums.rows(a, b) += pair.queries(tokens, directions, shifts) * s.rows(columns);
  });
  return divided(std::move(sums), shifts.log_scale, "performer", world);
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
    require(chosen.map != FeatureMap::oprf && chosen.map != FeatureMap::saderf, "performer by rows",
            "a map that does not look at all points: prf, trf, hyperbolic or sphere", {{"map", name_of(chosen.map)}});
    return [chosen](const SplitHead& head, arma::uword d, const Key& draw_key, const Communicator& world) {
      return performer(head, d, draw_key, chosen, world);
    };
  }
  require(options.all().empty(), "by rows", "a method without options", {{"method", std::string_view(name)}});
  if (name == "v-mean") return v_mean;
  if (name == "linformer") return linformer;
  if (name == "skyformer") return skyformer;
  if (name == "skyformer-softmax") return skyformer_softmax;
  throw std::invalid_argument(
      fmt::format("--methods: {} is not divided by rows; there are {}", name, fmt::join(split_method_names(), ", ")));
}

}  // namespace croquis
