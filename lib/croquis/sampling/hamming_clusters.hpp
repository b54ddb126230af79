// Clusters of points by the signs of random projections: K-means in Hamming space.
#pragma once

#include <armadillo>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// Bit b of word i is 1 if x_i.g_b > h_b, for row i of X (n x p) and column (g_b, h_b) of `planes` ((p + 1) x bits).
/// Cost: 2 n p bits flops.
/// Throws: std::invalid_argument unless there are 1 to 64 planes of p + 1 numbers.
template <typename T>
std::vector<std::uint64_t> plane_hashes(const arma::Mat<T>& x, const arma::Mat<T>& planes);

struct HammingOptions {
  int updates = 10;       ///< number of updates of the centroids, >= 0; each is followed by an assignment
  arma::uword bits = 63;  ///< number of bits of a word, 1 to 64: words are below 2^bits
};

/// The cluster of every word, < count, by K-means in Hamming space. The centroids start at `count` words with different
/// indices. An update moves a centroid to the majority of every bit (0 for a tie); a centroid without words becomes a
/// random word. A word belongs to the nearest centroid, the first one if several are nearest.
/// Guarantees: while no cluster is empty, the sum of the distances from words to their centroids never increases.
/// Randomness: the indices are sample_without_replacement of draw_key.child("centroids"). A centroid c without words in
///   update u becomes the `bits` highest bits of word c of draw_key.child("empty").child(u).
/// Cost: about n count (updates + 1) + n bits updates integer operations.
/// Throws: std::invalid_argument unless 1 <= count <= n, and for options outside their ranges.
std::vector<std::uint32_t> hamming_clusters(const std::vector<std::uint64_t>& words, arma::uword count,
                                            const Key& draw_key, const HammingOptions& options = {});

}  // namespace croquis
