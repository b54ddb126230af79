// Clusters of points by the signs of random projections: K-means in Hamming space.
#pragma once

#include <armadillo>
#include <croquis/random/key.hpp>
#include <cstdint>
#include <vector>

namespace croquis {

/// Bit b of word i is 1 where x_i.g_b > h_b, for row i of X (n x p) and column b of the planes (p + 1 x bits, the last
/// row has h), bits <= 64.
template <typename T>
std::vector<std::uint64_t> plane_hashes(const arma::Mat<T>& x, const arma::Mat<T>& planes);

struct HammingOptions {
  int updates = 10;       ///< of the centroids; each is followed by an assignment
  arma::uword bits = 63;  ///< of the words that count, 1 to 64
};

/// The cluster of every word, < count. Centroids begin at `count` different words' places, and move to the majority of
/// every bit (0 where there is a tie); a centroid without words becomes a random word. A word is in the cluster of the
/// nearest centroid, the first of them if several are.
/// Guarantees: the sum of the distances of words to their centroids never grows from step to step while no cluster is
///   empty.
/// Randomness: places are sample_without_replacement of draw_key.child("centroids"); the centroid c that is empty in
/// update u becomes word c of draw_key.child("empty").child(u).
/// Cost: about n count (updates + 1) + n bits updates operations on integers.
/// Throws std::invalid_argument unless 1 <= count <= n.
std::vector<std::uint32_t> hamming_clusters(const std::vector<std::uint64_t>& words, arma::uword count,
                                            const Key& draw_key, const HammingOptions& options = {});

}  // namespace croquis
