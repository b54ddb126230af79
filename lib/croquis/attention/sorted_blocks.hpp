// Blocks of queries and keys that are matched by their rank in the order of one hash.
#pragma once

#include <algorithm>
#include <armadillo>
#include <croquis/attention/causal_halves.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/attention/problem.hpp>
#include <croquis/random/normal_matrix.hpp>
#include <croquis/sampling/angular_order.hpp>
#include <cstdint>
#include <numeric>
#include <vector>

namespace croquis {

/// Blocks of keys with consecutive ranks, and for each block the queries of the same ranks. If there are not as many
/// queries as keys, the query of rank r is in the block of the key of rank floor(r n_k / n_q).
struct SortedBlocks {
  std::vector<std::vector<std::uint32_t>> queries, keys;
  arma::uword first_key;
  std::vector<std::uint32_t> block_of;  // of key first_key + j

  std::size_t size() const { return keys.size(); }
  std::uint32_t block_of_key(arma::uword key) const { return block_of[key - first_key]; }
};

/// The buckets of the queries and keys of a problem under one hash.
struct HashedTokens {
  std::vector<std::uint32_t> queries, keys;
};

/// The buckets of a hash with `directions` half-spaces.
/// Randomness: direction r is normals p r ... p r + p - 1 of the random key.
template <typename T>
HashedTokens hashed_tokens(const Problem<T>& problem, arma::uword directions, BucketOrder order, const Key& draw_key) {
  const auto g = normal_matrix<T>(draw_key, problem.p(), directions);
  return {bucket_places(problem.Q(), g, order), bucket_places(problem.K(), g, order)};
}

/// The indices first ... first + count - 1, sorted by bucket and, within a bucket, by index.
inline std::vector<std::uint32_t> in_order_of_buckets(const std::vector<std::uint32_t>& buckets, arma::uword first,
                                                      arma::uword count) {
  std::vector<std::uint32_t> sorted(count);
  std::iota(sorted.begin(), sorted.end(), static_cast<std::uint32_t>(first));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return buckets[a] < buckets[b]; });
  return sorted;
}

/// Blocks of b >= 1 keys, the last one perhaps shorter, of a rectangle of queries and keys.
inline SortedBlocks sorted_blocks(const HashedTokens& hashed, const CausalRectangle& part, arma::uword b) {
  const std::vector<std::uint32_t> queries = in_order_of_buckets(hashed.queries, part.first_query, part.queries),
                                   keys = in_order_of_buckets(hashed.keys, part.first_key, part.keys);
  const arma::uword n_q = queries.size(), n_k = keys.size(), count = (n_k + b - 1) / b;
  SortedBlocks blocks{std::vector<std::vector<std::uint32_t>>(count), std::vector<std::vector<std::uint32_t>>(count),
                      part.first_key, std::vector<std::uint32_t>(n_k)};
  for (arma::uword rank = 0; rank < n_k; ++rank) {
    blocks.keys[rank / b].push_back(keys[rank]);
    blocks.block_of[keys[rank] - part.first_key] = static_cast<std::uint32_t>(rank / b);
  }
  for (arma::uword rank = 0; rank < n_q; ++rank) {
    blocks.queries[rank * n_k / n_q / b].push_back(queries[rank]);
  }
  return blocks;
}

/// The blocks of all queries and keys, under a hash of their own.
template <typename T>
SortedBlocks sorted_blocks(const Problem<T>& problem, arma::uword b, arma::uword directions, BucketOrder order,
                           const Key& draw_key) {
  return sorted_blocks(hashed_tokens(problem, directions, order, draw_key), {0, problem.n_q(), 0, problem.n_k()}, b);
}

/// The flops of `pairs` pairs of a query and a key, 2 (p + p_v) + 1 each, and of the hash, 2 r p (n_q + n_k) for r
/// directions; r = 0 if there is no hash.
template <typename T>
double sorted_block_flops(const Problem<T>& problem, double pairs, arma::uword directions) {
  const auto tokens = static_cast<double>(problem.n_q() + problem.n_k()), p = static_cast<double>(problem.p()),
             p_v = static_cast<double>(problem.p_v());
  return pairs * pair_flops(p, p_v) + 2 * static_cast<double>(directions) * p * tokens;
}

}  // namespace croquis
