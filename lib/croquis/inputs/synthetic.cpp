#include <algorithm>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/random/normal_matrix.hpp>

namespace croquis {
namespace {

// Q, K and V, and a copy of each, which is needed while they are created.
constexpr double kBytes = 6 * sizeof(double);

void check(const SyntheticSize& size, const char* where) {
  require(size.n >= 1 && size.p >= 1, where, "n, p >= 1", {{"n", size.n}, {"p", size.p}});
  require(size.norm >= 0 && std::isfinite(size.norm), where, "a finite norm >= 0", {{"norm", size.norm}});
  require_memory(kBytes * static_cast<double>(size.n) * static_cast<double>(size.p), where,
                 {{"n", size.n}, {"p", size.p}});
}

// Rows of norm `norm`, uniform directions.
arma::mat on_sphere(arma::uword rows, const SyntheticSize& size, const Key& draw_key) {
  arma::mat m = normal_matrix<double>(draw_key, rows, size.p);
  const arma::vec norms = arma::sqrt(arma::sum(arma::square(m), 1));
  m.each_col() %= size.norm / norms;  // a zero row has probability 0
  return m;
}

arma::vec pareto(arma::uword n, double tail, const Key& draw_key) {
  arma::vec t(n);
  for (arma::uword i = 0; i < n; ++i) t(i) = std::pow(uniform_at(draw_key, i), -1 / tail);
  return t;
}

}  // namespace

Problem<double> gaussian_input(const Key& draw_key, const SyntheticSize& size) {
  check(size, "gaussian_input");
  const double deviation = size.norm / std::sqrt(static_cast<double>(size.p));
  return {deviation * normal_matrix<double>(draw_key.child("query"), size.n, size.p),
          deviation * normal_matrix<double>(draw_key.child("key"), size.n, size.p),
          normal_matrix<double>(draw_key.child("value"), size.n, size.p)};
}

Problem<double> sphere_input(const Key& draw_key, const SyntheticSize& size) {
  check(size, "sphere_input");
  return {on_sphere(size.n, size, draw_key.child("query")), on_sphere(size.n, size, draw_key.child("key")),
          normal_matrix<double>(draw_key.child("value"), size.n, size.p)};
}

Problem<double> clustered_input(const Key& draw_key, const SyntheticSize& size, const ClusteredInput& options) {
  check(size, "clustered_input");
  require(options.clusters >= 1, "clustered_input", "clusters >= 1", {{"clusters", options.clusters}});
  require(options.spread >= 0 && std::isfinite(options.spread), "clustered_input", "spread >= 0 and finite",
          {{"spread", options.spread}});
  require_memory(kBytes * static_cast<double>(options.clusters) * static_cast<double>(size.p), "clustered_input",
                 {{"clusters", options.clusters}, {"p", size.p}});
  const arma::uvec cluster = sample_with_replacement(options.clusters, size.n, draw_key.child("cluster"));
  const arma::mat centres = on_sphere(options.clusters, size, draw_key.child("centre"));
  const arma::mat values = normal_matrix<double>(draw_key.child("value centre"), options.clusters, size.p);
  const double deviation = options.spread * size.norm / std::sqrt(static_cast<double>(size.p));
  const auto noise = [&](const char* name) { return normal_matrix<double>(draw_key.child(name), size.n, size.p); };
  return {centres.rows(cluster) + deviation * noise("query"), centres.rows(cluster) + deviation * noise("key"),
          values.rows(cluster) + options.spread * noise("value")};
}

Problem<double> heavy_norms_input(const Key& draw_key, const SyntheticSize& size, const HeavyNormsInput& options) {
  check(size, "heavy_norms_input");
  require(options.tail > 0 && std::isfinite(options.tail), "heavy_norms_input", "tail > 0 and finite",
          {{"tail", options.tail}});
  const Problem<double> sphere = sphere_input(draw_key, size);
  arma::mat q = sphere.Q(), k = sphere.K();
  q.each_col() %= pareto(size.n, options.tail, draw_key.child("query norm"));
  k.each_col() %= pareto(size.n, options.tail, draw_key.child("key norm"));
  return {std::move(q), std::move(k), sphere.V()};
}

Problem<double> low_rank_input(const Key& draw_key, const SyntheticSize& size, const LowRankInput& options) {
  const SerialBlas serial;
  check(size, "low_rank_input");
  require(options.rank >= 1, "low_rank_input", "rank >= 1", {{"rank", options.rank}});
  const arma::uword rank = std::min(options.rank, size.p);
  const arma::mat tokens = normal_matrix<double>(draw_key.child("token"), size.n, rank);
  const auto project = [&](const char* name, double deviation) -> arma::mat {
    return tokens * (deviation / std::sqrt(static_cast<double>(rank)) *
                     normal_matrix<double>(draw_key.child(name), rank, size.p));
  };
  const double entry = size.norm / std::sqrt(static_cast<double>(size.p));
  return {project("query", entry), project("key", entry), project("value", 1.0)};
}

Problem<double> duplicates_input(const Key& draw_key, const SyntheticSize& size, const DuplicatesInput& options) {
  check(size, "duplicates_input");
  require(options.distinct >= 1, "duplicates_input", "distinct >= 1", {{"distinct", options.distinct}});
  require_memory(kBytes * static_cast<double>(options.distinct) * static_cast<double>(size.p), "duplicates_input",
                 {{"distinct", options.distinct}, {"p", size.p}});
  const Problem<double> tokens = gaussian_input(draw_key, {.n = options.distinct, .p = size.p, .norm = size.norm});
  const arma::uvec token = sample_with_replacement(options.distinct, size.n, draw_key.child("token"));
  return {tokens.Q().rows(token), tokens.K().rows(token), tokens.V().rows(token)};
}

}  // namespace croquis
