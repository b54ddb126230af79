#include "commands/variance_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/random/indices.hpp>
#include <stdexcept>

#include "files/environment.hpp"
#include "options/bias.hpp"
#include "options/common_options.hpp"

namespace {

using croquis::FeaturePoints;
using croquis::Key;

constexpr arma::uword kMostQueries = 64;
constexpr arma::uword kSphereDimension = 64;

PointsAt points_of(const Input& head, arma::uword queries, const Key& key) {
  const ReturnedMemory returned;
  const croquis::Problem<double> problem = head.problem();
  // Once: x.y is then q.k / sqrt(p).
  const double scale = std::pow(static_cast<double>(problem.p()), -0.25);
  const arma::uvec some = croquis::sample_without_replacement(problem.n_q(), queries, key);
  FeaturePoints points = {scale * problem.Q().rows(some), scale * problem.K()};
  if (problem.is_causal()) points.seen = some + (problem.n_k() - problem.n_q() + 1);
  return [points](double norm, std::uint64_t) { return FeaturePoints{norm * points.x, norm * points.y, points.seen}; };
}

VariancePoints of_heads(InputOptions input, const PointsOptions& options, const RunOptions& run) {
  if (run.given.contains("--keys")) {
    throw std::invalid_argument("--keys: of spheres, a head has its own; leave it out");
  }
  const bool arrays = input.kind == "arrays" || (!input.k.empty() && !run.given.contains("--input"));
  if (arrays && input.qkv.empty() && (input.q.empty() || input.k.empty())) {
    throw std::invalid_argument("--q and --k: both are needed, or --qkv");
  }
  if (input.qkv.empty() && input.v.empty()) input.v = input.k;  // nothing here looks at values
  const std::vector<Input> heads = load_inputs(input, run);
  const Key key = Key(run.seed).child("variance").child("queries");
  VariancePoints points{.all = {}, .identity = identity_of(heads)};
  std::string& chosen = points.identity["queries"];
  for (const Input& head : heads) {
    const auto most = static_cast<arma::uword>(options.queries.value_or(kMostQueries));
    const arma::uword queries = std::min(head.n_q, most);
    chosen += fmt::format("{}{}", chosen.empty() ? "" : ", ", queries);
    points.all.push_back({.input = head.name,
                          .sequence = head.sequence,
                          .layer = head.layer,
                          .head = head.head,
                          .queries = queries,
                          .keys = head.n_k,
                          .p = head.p,
                          .load = [=] { return points_of(head, queries, key); }});
  }
  return points;
}

VariancePoints on_spheres(const InputOptions& input, const PointsOptions& options, const RunOptions& run) {
  for (const std::string& option : run.given) {
    if (!options.of_heads.contains(option)) continue;
    throw std::invalid_argument(fmt::format(
        "{}: goes with --model, --q and --k, --text or --input; without, points are uniform on spheres", option));
  }
  PendingPoints spheres{.input = "sphere",
                        .queries = static_cast<arma::uword>(options.queries.value_or(1)),
                        .keys = static_cast<arma::uword>(options.keys),
                        .p = static_cast<arma::uword>(input.p.value_or(kSphereDimension))};
  const std::string size = fmt::format("{} keys, {} queries, p = {}", spheres.keys, spheres.queries, spheres.p);
  const Key key = Key(run.seed).child("variance").child("sphere");
  spheres.load = [=, queries = spheres.queries, keys = spheres.keys, p = spheres.p]() -> PointsAt {
    return [=](double norm, std::uint64_t trial) {
      return croquis::sphere_points(queries, keys, p, norm, key.child(trial));
    };
  };
  return {.all = {spheres}, .identity = {{"input", spheres.input}, {"numbers", size}}};
}

}  // namespace

void add_points_options(CLI::App& app, InputOptions& input, PointsOptions& options) {
  add_input_options(app, input);
  app.get_option("--bias")->group("");  // refused, with the reason
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == kInputGroup) options.of_heads.insert(option->get_name());
  }
  options.of_heads.erase("--p");
  app.get_option("--input")->default_str("")->description(
      "kind of input (see list inputs); without an input, points are uniform on spheres");
  app.get_option("--p")->description("synthetic inputs, spheres: width (default 64)");
  app.get_option("--v")->description("values, which are not needed here");
  app.option_defaults()->group(kInputGroup);
  app.add_option("--keys", options.keys, "keys on the sphere")->check(whole_number(1))->capture_default_str();
  app.add_option("--queries", options.queries, "queries (default 1 on a sphere; at most 64 of a head)")
      ->check(whole_number(1));
  app.option_defaults()->group(kMeasureGroup);
}

bool are_of_heads(const RunOptions& run) {
  const auto begins = {"--input", "--model", "--q", "--k", "--qkv", "--text"};
  return std::any_of(begins.begin(), begins.end(), [&](const char* option) { return run.given.contains(option); });
}

VariancePoints variance_points(const InputOptions& input, const PointsOptions& options, const RunOptions& run) {
  require_no_bias(input.bias, "variance", "features estimate exp(x.y)");
  return are_of_heads(run) ? of_heads(input, options, run) : on_spheres(input, options, run);
}
