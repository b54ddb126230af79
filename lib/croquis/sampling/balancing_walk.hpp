// Halving by a self-balancing walk, in blocks of a stream.
#pragma once

#include <croquis/sampling/kernel_halving.hpp>

namespace croquis {

struct BalancingWalk {
  double gamma = 16;        ///< >= 0: how strongly signs turn against the sum so far; 0: fair signs
  arma::uword block = 128;  ///< tokens of a walk, at least 2 and even
};

/// The rounds of halving_rounds() in blocks of at most `block` tokens: merge-and-reduce. Of a stream of tokens a block
/// is halved, two halves are a block of the next round, and so on: at any time a block a round is in memory.
std::vector<HalvingRound> balancing_rounds(arma::uword n, arma::uword d, arma::uword block);

/// d of the tokens with sum of weights n, for every n and 1 <= d <= n. Token i of a block has the sign -1 with
/// probability 1/2 + gamma S_i / a_i (0 below 0, 1 above 1), S_i = sum over j < i of sign(j) h(i, j), a_i the largest
/// h(j, j), j <= i, until half of the block has one sign; the rest have the other. Those with the sign 1 are left, with
/// twice the weight. Weights of all n and d are as in kh_compress(). Guarantees: given the keys and values, a token's
/// sign has mean 0, as the walk has the same law with all signs turned, so its weight has mean 1. Scaling h changes
/// nothing. Randomness: halve_in_rounds() of draw_key; token i of a block takes uniform number i. Cost:
/// halving_entries(balancing_rounds(n, d, block)), less than n (block + 64) entries of h in all rounds.
template <typename T>
WeightedTokens balanced_halves(const TokenKernel<T>& kernel, const std::vector<std::uint32_t>& tokens, arma::uword d,
                               const BalancingWalk& walk, const Key& draw_key);

}  // namespace croquis
