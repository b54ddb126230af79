// Random index sets.
#pragma once

#include <armadillo>
#include <croquis/random/key.hpp>

namespace croquis {

/// d independent uniform indices of 0 ... n-1, with replacement.
/// Randomness: index j depends on the key and j alone, so a longer sample begins with the shorter one.
arma::uvec sample_with_replacement(arma::uword n, arma::uword d, const Key& key);

/// d different uniform indices of 0 ... n-1 in random order (Fisher-Yates); d <= n. A longer sample begins with the
/// shorter one.
arma::uvec sample_without_replacement(arma::uword n, arma::uword d, const Key& key);

/// d independent indices with probability proportional to the weights, with replacement. Weights >= 0 and finite, one
/// of them positive; an index of weight 0 is never drawn.
/// Randomness: index j depends on the key and j alone. Cost: O(n + d log n).
template <typename T>
arma::uvec sample_weighted(const arma::Col<T>& weights, arma::uword d, const Key& key);

/// d different indices by successive sampling: each with probability proportional to its weight among those left
/// (what torch.multinomial without replacement draws), as an exponential race -log(U_i) / w_i in the log domain.
/// Weights >= 0 and finite; indices of weight 0 come, uniformly, only after all others are taken. d <= n.
/// Randomness: U_i depends on the key and i alone.
template <typename T>
arma::uvec sample_weighted_without_replacement(const arma::Col<T>& weights, arma::uword d, const Key& key);

}  // namespace croquis
