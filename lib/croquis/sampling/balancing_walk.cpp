#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sampling/balancing_walk.hpp>

namespace croquis {
namespace {

// The tokens of a block that have the sign 1, exactly half of them.
template <typename T>
std::vector<std::uint32_t> positive_half(const TokenKernel<T>& kernel, const std::vector<std::uint32_t>& block,
                                         double gamma, const Key& draw_key) {
  const std::size_t half = block.size() / 2;
  std::size_t positive = 0;
  T largest = 0, most = 0;  // the largest h(j, j), over e^most
  std::vector<std::uint32_t> left;
  signed_walk<T>(kernel, block, 1, [&](const WalkStep<T>& step, T* sign) {
    largest *= std::exp(most - step.most);
    most = step.most;
    largest = std::max(largest, step.inner(0, 0) * std::exp(step.own - most));
    const T along = step.along(0) * std::exp((step.own - most) / 2);
    const double ratio = largest > 0 ? static_cast<double>(along) / static_cast<double>(largest) : 0;
    bool negative = uniform_at(draw_key, step.first) < 0.5 + gamma * ratio;
    if (positive == half) negative = true;
    if (step.first - positive == half) negative = false;
    *sign = negative ? T(-1) : T(1);
    if (negative) return;
    ++positive;
    left.push_back(block[step.first]);
  });
  return left;
}

}  // namespace

std::vector<HalvingRound> balancing_rounds(arma::uword n, arma::uword d, arma::uword block) {
  require(block >= 2 && block % 2 == 0, "balanced_halves", "an even number of tokens in a block", {{"block", block}});
  std::vector<HalvingRound> rounds = halving_rounds(n, d);
  for (HalvingRound& round : rounds) {
    round.groups = blocks_of(round.pairs, block / 2);
  }
  return rounds;
}

template <typename T>
WeightedTokens balanced_halves(const TokenKernel<T>& kernel, const std::vector<std::uint32_t>& tokens, arma::uword d,
                               const BalancingWalk& walk, const Key& draw_key) {
  kernel.require_tokens(tokens, "balanced_halves");
  require(walk.gamma >= 0 && std::isfinite(walk.gamma), "balanced_halves", "gamma >= 0 and finite",
          {{"gamma", walk.gamma}});
  const auto halve = [&](const std::vector<std::uint32_t>& block, const Key& of_block) {
    return positive_half(kernel, block, walk.gamma, of_block);
  };
  return halve_in_rounds(tokens, balancing_rounds(tokens.size(), d, walk.block), halve, draw_key);
}

template WeightedTokens balanced_halves(const TokenKernel<float>&, const std::vector<std::uint32_t>&, arma::uword,
                                        const BalancingWalk&, const Key&);
template WeightedTokens balanced_halves(const TokenKernel<double>&, const std::vector<std::uint32_t>&, arma::uword,
                                        const BalancingWalk&, const Key&);

}  // namespace croquis
