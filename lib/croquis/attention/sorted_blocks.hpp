// Queries and keys that meet by their rank in the order of one hash.
#pragma once

#include <algorithm>
#include <armadillo>
#include <croquis/attention/problem.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sampling/angular_order.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// Blocks of consecutive keys, and the queries of the same ranks; with other numbers of queries than of keys, of the
/// same share of the ranks.
struct SortedBlocks {
  std::vector<std::vector<std::uint32_t>> queries, keys;
  std::vector<std::uint32_t> block_of_key;

  std::size_t size() const { return keys.size(); }
};

/// Blocks of b >= 1 keys, the last one perhaps shorter, in the order of `directions` half-spaces.
/// Randomness: direction r is normals p r ... p r + p - 1 of the random key.
template <typename T>
SortedBlocks sorted_blocks(const Problem<T>& problem, arma::uword b, arma::uword directions, BucketOrder order,
                           const Key& draw_key) {
  arma::Mat<T> g(problem.p(), directions);
  fill_normal(draw_key, 0, g.n_elem, g.memptr());
  const std::vector<std::uint32_t> queries = angular_order(problem.Q(), g, order),
                                   keys = angular_order(problem.K(), g, order);
  const arma::uword n_q = queries.size(), n_k = keys.size(), count = (n_k + b - 1) / b;
  SortedBlocks blocks{std::vector<std::vector<std::uint32_t>>(count), std::vector<std::vector<std::uint32_t>>(count),
                      std::vector<std::uint32_t>(n_k)};
  for (arma::uword rank = 0; rank < n_k; ++rank) {
    blocks.keys[rank / b].push_back(keys[rank]);
    blocks.block_of_key[keys[rank]] = static_cast<std::uint32_t>(rank / b);
  }
  for (arma::uword rank = 0; rank < n_q; ++rank) {
    blocks.queries[rank * n_k / n_q / b].push_back(queries[rank]);
  }
  return blocks;
}

}  // namespace croquis
