#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/kernel_halving.hpp>

namespace croquis {
namespace {

using Tokens = std::vector<std::uint32_t>;

// The first pair of group g.
arma::uword first_pair(const HalvingRound& round, arma::uword g) {
  return round.pairs * g / round.groups;
}

// Where pair j of those that are halved begins: all pairs, or some that are evenly spread.
arma::uword place_of_pair(const HalvingRound& round, arma::uword j) {
  return 2 * (j * (round.tokens / 2) / round.pairs);
}

// The tokens of each pair one after the other to the one of each that is left.
template <typename T>
Tokens halved(const TokenKernel<T>& kernel, const Tokens& pairs, double log_factor, const Key& draw_key) {
  T largest = 0, most = 0;  // the largest norm, over e^(most / 2)
  const std::vector<T> signs = signed_walk<T>(kernel, pairs, 2, [&](const WalkStep<T>& step, T* sign) {
    const T square = std::max(step.inner(0, 0) - 2 * step.inner(0, 1) + step.inner(1, 1), T(0)),
            norm = std::sqrt(square);
    largest *= std::exp((most - step.most) / 2);
    most = step.most;
    largest = std::max(largest, norm * std::exp((step.own - most) / 2));
    const auto a = static_cast<double>(norm * largest) * log_factor;
    const double ratio = a > 0 ? static_cast<double>(step.along(0) - step.along(1)) / a : 0;
    const bool swap = 2 * uniform_at(draw_key, step.first / 2) - 1 < ratio;
    sign[0] = swap ? T(-1) : T(1);
    sign[1] = -sign[0];
  });
  Tokens left(pairs.size() / 2);
  for (std::size_t j = 0; j < left.size(); ++j) left[j] = pairs[2 * j + (signs[2 * j] > 0 ? 0 : 1)];
  return left;
}

}  // namespace

std::vector<HalvingRound> halving_rounds(arma::uword n, arma::uword d) {
  require(d >= 1 && d <= n, "kh_compress", "1 <= d <= n", {{"d", d}, {"n", n}});
  std::vector<HalvingRound> rounds;
  arma::uword whole = n, left = n;  // tokens of full weight, and with those set aside, which end as one token
  while (left > d) {
    const arma::uword next = (left + 1) / 2;
    rounds.push_back({whole, next >= d ? whole / 2 : left - d, 1, next >= d});
    whole /= 2;
    left = std::max(next, d);
  }
  arma::uword groups = 1;
  for (std::size_t r = rounds.size(); r-- > 0;) {
    rounds[r].groups = std::min(groups, rounds[r].pairs);
    if (groups < n) groups *= 4;
  }
  return rounds;
}

WeightedTokens halve_in_rounds(const Tokens& tokens, const std::vector<HalvingRound>& rounds, const GroupHalving& halve,
                               const Key& draw_key) {
  require(!tokens.empty(), "halve_in_rounds", "one token at least");
  std::vector<double> weight(1 + *std::max_element(tokens.begin(), tokens.end()), 0.0);
  for (const std::uint32_t token : tokens) weight[token] = 1;
  Tokens left = tokens, aside;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const HalvingRound& round = rounds[r];
    if (round.all && left.size() % 2 == 1) {
      aside.push_back(left.back());
      left.pop_back();
    }
    const Key of_round = draw_key.child(r);
    std::vector<Tokens> results(round.groups);
    parallel_for(round.groups, [&](std::size_t g) {
      Tokens pairs;
      for (arma::uword j = first_pair(round, g); j < first_pair(round, g + 1); ++j) {
        const arma::uword place = place_of_pair(round, j);
        pairs.push_back(left[place]);
        pairs.push_back(left[place + 1]);
      }
      results[g] = halve(pairs, of_round.child(g));
    });
    std::vector<char> halves(left.size(), 0);
    Tokens chosen;
    for (const Tokens& result : results) chosen.insert(chosen.end(), result.begin(), result.end());
    for (const std::uint32_t token : chosen) weight[token] *= 2;
    for (arma::uword j = 0; j < round.pairs; ++j) {
      halves[place_of_pair(round, j)] = halves[place_of_pair(round, j) + 1] = 1;
    }
    for (std::size_t j = 0; j < left.size(); ++j) {
      if (halves[j] == 0) chosen.push_back(left[j]);
    }
    left = std::move(chosen);
    // Groups come in the order of their tokens; only those that waited, in the last round, are out of it.
    std::sort(left.begin(), left.end());
  }
  if (!aside.empty()) {
    arma::vec weights(aside.size());
    for (std::size_t j = 0; j < aside.size(); ++j) weights(j) = weight[aside[j]];
    const std::uint32_t chosen = aside[sample_weighted(weights, 1, draw_key.child("aside"))(0)];
    weight[chosen] = arma::accu(weights);
    left.push_back(chosen);
    std::sort(left.begin(), left.end());
  }
  WeightedTokens result{arma::uvec(left.size()), arma::vec(left.size())};
  for (std::size_t j = 0; j < left.size(); ++j) {
    result.tokens(j) = left[j];
    result.weights(j) = weight[left[j]];
  }
  return result;
}

template <typename T>
WeightedTokens kh_compress(const TokenKernel<T>& kernel, const Tokens& tokens, arma::uword d, double delta,
                           const Key& draw_key) {
  kernel.require_tokens(tokens, "kh_compress");
  require(delta > 0 && delta <= 1, "kh_compress", "0 < delta <= 1", {{"delta", delta}});
  const std::vector<HalvingRound> rounds = halving_rounds(tokens.size(), d);
  const double of_all =
      8 * static_cast<double>(d) * static_cast<double>(d) * static_cast<double>(rounds.size()) / delta;
  const auto halve = [&](const Tokens& group, const Key& of_group) {
    return halved(kernel, group, 0.5 + std::log(of_all / static_cast<double>(group.size())), of_group);
  };
  return halve_in_rounds(tokens, rounds, halve, draw_key);
}

double halving_entries(arma::uword n, arma::uword d) {
  return halving_entries(halving_rounds(n, d));
}

double halving_entries(const std::vector<HalvingRound>& rounds) {
  double entries = 0;
  for (const HalvingRound& round : rounds) {
    if (round.pairs == 0) continue;
    // Groups differ by a pair at most.
    const auto groups = static_cast<double>(round.groups),
               smaller = std::floor(static_cast<double>(round.pairs) / groups),
               larger = static_cast<double>(round.pairs) - smaller * groups;
    entries += larger * walk_entries(2 * smaller + 2) + (groups - larger) * walk_entries(2 * smaller);
  }
  return entries;
}

template WeightedTokens kh_compress(const TokenKernel<float>&, const Tokens&, arma::uword, double, const Key&);
template WeightedTokens kh_compress(const TokenKernel<double>&, const Tokens&, arma::uword, double, const Key&);

}  // namespace croquis
