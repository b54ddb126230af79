// Halving of token sets by self-balancing walks, in blocks.
#pragma once

#include <croquis/sampling/kernel_halving.hpp>

namespace croquis {

struct BalancingWalk {
  double gamma = 16;        ///< >= 0, finite: how strongly a sign opposes the sum so far; 0: fair signs
  arma::uword block = 128;  ///< tokens in a walk, at least 2 and even
};

/// The rounds of halving_rounds() in blocks of at most `block` tokens (merge-and-reduce): a block of tokens is halved,
/// two halves form a block of the next round, and so on. In a stream, one block for each round is in memory at any
/// time.
std::vector<HalvingRound> balancing_rounds(arma::uword n, arma::uword d, arma::uword block);

/// d of the tokens, with weights that sum to n, for every n and 1 <= d <= n, by self-balancing walks (Kochetkova et
/// al. 2025, BalanceKV). Token i of a block gets the sign -1 with probability 1/2 + gamma S_i / a_i (0 if this is below
/// 0, 1 if it is above 1), where S_i = sum over j < i of sign(j) h(i, j) and a_i is the largest h(j, j) for j <= i,
/// until half of the block has one sign; the others then get the other sign. The tokens with the sign 1 are kept, with
/// twice the weight. Weights for other n and d are as in kh_compress().
/// Guarantees: given the keys and values, the distribution of a walk is symmetric under a change of all signs. So a
///   sign has mean 0, and a token's weight has mean 1. Multiplying h by a positive constant changes nothing.
/// Randomness: that of halve_in_rounds() on draw_key; token i of a block takes uniform number i.
/// Cost: halving_entries(balancing_rounds(n, d, block)) entries of h, less than n (block + 64) in all rounds.
/// Throws: std::invalid_argument unless gamma >= 0 is finite, block >= 2 is even, and 1 <= d <= n.
template <typename T>
WeightedTokens balanced_halves(const TokenKernel<T>& kernel, const std::vector<std::uint32_t>& tokens, arma::uword d,
                               const BalancingWalk& walk, const Key& draw_key);

}  // namespace croquis
