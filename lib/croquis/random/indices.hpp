// Random sets of indices. All functions return a vector of d indices, and throw std::invalid_argument for arguments
// outside their ranges and for more than memory holds.
#pragma once

#include <armadillo>
#include <croquis/random/key.hpp>

namespace croquis {

/// d independent uniform indices in 0 ... n-1, with replacement. n >= 1.
/// Randomness: index j is the first uniform integer (Boost) of the engine of key.child(j). It depends only on n, the
///   key and j, so a longer sample begins with the shorter one.
arma::uvec sample_with_replacement(arma::uword n, arma::uword d, const Key& key);

/// d different uniform indices in 0 ... n-1, in random order (Fisher-Yates). A longer sample begins with the shorter
/// one. d <= n.
/// Randomness: d uniform integers of the key's engine.
/// Cost: O(d), or O(n) if d >= n / 8, in time and memory.
arma::uvec sample_without_replacement(arma::uword n, arma::uword d, const Key& key);

/// d independent indices with probability proportional to the weights, with replacement. The weights must be finite and
/// >= 0, and one of them positive. An index of weight 0 is never drawn.
/// Randomness: index j is that of uniform number j of the key (CumulativeWeights), so it depends only on the weights,
///   the key and j.
/// Cost: O(n + d log n).
template <typename T>
arma::uvec sample_weighted(const arma::Col<T>& weights, arma::uword d, const Key& key);

/// d different indices by successive sampling: each is drawn with probability proportional to its weight among those
/// that are left, as torch.multinomial does without replacement. It is computed as an exponential race -log(U_i) / w_i,
/// in the log domain. The weights must be finite and >= 0. Indices of weight 0 are drawn, uniformly, only when all
/// others have been taken. d <= n.
/// Randomness: U_i is uniform number i of the key.
/// Cost: O(n + d log d).
template <typename T>
arma::uvec sample_weighted_without_replacement(const arma::Col<T>& weights, arma::uword d, const Key& key);

}  // namespace croquis
