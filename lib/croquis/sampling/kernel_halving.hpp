// KH-Compress: some of the keys with weights, by kernel halving of ever larger groups of those that are left.
#pragma once

#include <croquis/random/key.hpp>
#include <croquis/sampling/token_kernel.hpp>
#include <functional>
#include <vector>

namespace croquis {

/// Some of n tokens, each once, with the number of tokens that it stands for.
struct WeightedTokens {
  arma::uvec tokens;  ///< ascending
  arma::vec weights;  ///< > 0
};

/// A round of halving: `pairs` pairs of tokens, of which one each is left, in `groups` groups of consecutive pairs.
struct HalvingRound {
  arma::uword tokens, pairs, groups;  ///< of `tokens` of equal weight some pairs; the others wait
  bool all;                           ///< all pairs; an odd token is set aside
};

/// The rounds that leave d of n tokens. While halving all of them leaves at least d, all are halved; then, once, just
/// so many pairs that d are left. The last round has one group, the one before it four, then 16, ...: every round sees
/// about d^2 pairs of pairs, however many tokens it has (a group has at least one pair).
/// Compress (Shetty et al. 2022) has n = 4^k and d = 2^g sqrt(n), where these are its rounds and groups.
std::vector<HalvingRound> halving_rounds(arma::uword n, arma::uword d);

/// Half of the tokens of a group, in their order. Where every token is left with probability 1/2, weights have mean 1.
using GroupHalving =
    std::function<std::vector<std::uint32_t>(const std::vector<std::uint32_t>& group, const Key& draw_key)>;

/// What `rounds` of halving leave of `tokens`; weights and tokens set aside as in kh_compress(), which is one such.
/// Randomness: group g of round r has draw_key.child(r).child(g); the last draw is of draw_key.child("aside").
WeightedTokens halve_in_rounds(const std::vector<std::uint32_t>& tokens, const std::vector<HalvingRound>& rounds,
                               const GroupHalving& halve, const Key& draw_key);

/// d of the tokens with sum of weights n, by KH-Compress (Carrell, Gong, Shetty, Dwivedi & Mackey 2025), for every n
/// and 1 <= d <= n. In a group pairs come one after the other; of pair (x, y), f = h(x, .) - h(y, .), S the signed sum
/// of the f so far, y is left with probability (1 + alpha / a) / 2, alpha = <S, f> (0 below 0, 1 above 1), and x
/// otherwise, so that S stays small. a = ||f|| max ||f|| (1/2 + log(8 d^2 R / (delta t))), the largest norm so far, t
/// the tokens of the group, R the rounds. A token that has no partner is set aside with its weight; of those, one is
/// drawn in the end, with probability proportional to the weights, and has their sum. All others have the weight
/// 2^rounds, or half of it where the last round had no need of them. Guarantees: given the keys and values, a token's
/// weight has mean 1, as a walk has the same law with all signs turned. Tokens of equal weight alone are halved.
/// Randomness: pair j of group g of round r takes uniform number j of draw_key.child(r).child(g); the last draw is
/// sample_weighted of draw_key.child("aside").
/// Cost: halving_entries(n, d) entries of h.
template <typename T>
WeightedTokens kh_compress(const TokenKernel<T>& kernel, const std::vector<std::uint32_t>& tokens, arma::uword d,
                           double delta, const Key& draw_key);

/// The entries of h that kh_compress computes; and those of other rounds in which groups are signed by walks.
double halving_entries(arma::uword n, arma::uword d);
double halving_entries(const std::vector<HalvingRound>& rounds);

}  // namespace croquis
