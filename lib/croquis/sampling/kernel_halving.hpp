// KH-Compress: a weighted subset of the keys, by kernel halving of ever larger groups of the remaining ones.
#pragma once

#include <croquis/random/key.hpp>
#include <croquis/sampling/token_kernel.hpp>
#include <functional>
#include <vector>

namespace croquis {

/// A weighted subset of n tokens: a weight is the number of tokens that a token stands for.
struct WeightedTokens {
  arma::uvec tokens;  ///< ascending, each once
  arma::vec weights;  ///< > 0
};

/// A round of halving. Of `tokens` tokens of equal weight, 2 `pairs` are paired, in `groups` groups of consecutive
/// pairs, and one token of each pair is kept.
struct HalvingRound {
  arma::uword tokens, pairs, groups;
  bool all;  ///< all tokens are paired, and one without a partner is set aside; false: such tokens are kept
};

/// The rounds that leave d of n tokens. As long as halving all tokens leaves at least d, all are halved. Then, in one
/// more round, just enough pairs are halved that d tokens are left. The last round has one group, the one before it
/// four, then 16, and so on, so that every round computes about 2 d^2 kernel entries, however many tokens it has, as
/// long as groups have more than one pair. Compress (Shetty et al. 2022) has n = 4^k and d = 2^g sqrt(n); these are
/// then its rounds and groups. Throws std::invalid_argument unless 1 <= d <= n.
std::vector<HalvingRound> halving_rounds(arma::uword n, arma::uword d);

/// Returns half of the tokens of a group, in their order. If every token is kept with probability 1/2, weights have
/// mean 1.
using GroupHalving =
    std::function<std::vector<std::uint32_t>(const std::vector<std::uint32_t>& group, const Key& draw_key)>;

/// The tokens that `rounds` of halving leave of `tokens` (at least one). Weights, and tokens set aside, are as in
/// kh_compress(), which is an instance of this.
/// Randomness: group g of round r gets draw_key.child(r).child(g); the last draw is from draw_key.child("aside").
WeightedTokens halve_in_rounds(const std::vector<std::uint32_t>& tokens, const std::vector<HalvingRound>& rounds,
                               const GroupHalving& halve, const Key& draw_key);

/// d of the tokens, with weights that sum to n, by KH-Compress (Carrell, Gong, Shetty, Dwivedi & Mackey 2025), for
/// every n and 1 <= d <= n.
///
/// The pairs of a group are taken one after the other. For a pair (x, y), let f = h(x, .) - h(y, .), let S be the
/// signed sum of the f so far, alpha = <S, f>, and a = ||f|| max ||f|| (1/2 + log(8 d^2 R / (delta t))), with the
/// largest norm so far, t tokens in the group and R rounds. y is kept with probability (1 + alpha / a) / 2 (0 if this
/// is below 0, 1 if it is above 1), otherwise x. So S stays small. A token without a partner is set aside with its
/// weight. In the end one of the tokens set aside is drawn with probability proportional to the weights, and gets the
/// sum of their weights. All others have the weight 2^rounds, or half of it if the last round did not need them. Only
/// tokens of equal weight are paired.
/// Guarantees: given the keys and values, the distribution of a walk is symmetric under a change of all signs, so a
///   token's weight has mean 1.
/// Randomness: pair j of group g of round r takes uniform number j of draw_key.child(r).child(g); the last draw is
///   sample_weighted on draw_key.child("aside").
/// Cost: halving_entries(n, d) entries of h.
/// Throws: std::invalid_argument unless 1 <= d <= n and 0 < delta <= 1, and for tokens that the kernel does not have.
template <typename T>
WeightedTokens kh_compress(const TokenKernel<T>& kernel, const std::vector<std::uint32_t>& tokens, arma::uword d,
                           double delta, const Key& draw_key);

/// The number of entries of h that kh_compress computes, and the number for other rounds whose groups are signed by
/// walks.
double halving_entries(arma::uword n, arma::uword d);
double halving_entries(const std::vector<HalvingRound>& rounds);

}  // namespace croquis
