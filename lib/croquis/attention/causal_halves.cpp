#include <algorithm>
#include <croquis/attention/causal_halves.hpp>
#include <croquis/core/require.hpp>
#include <utility>

namespace croquis {

CausalHalves causal_halves(TokenAlignment tokens, arma::uword keys) {
  require(tokens.n_q >= 1 && tokens.n_q <= tokens.n_k && keys >= 1, "causal_halves", "1 <= n_q <= n_k, keys >= 1",
          {{"n_q", tokens.n_q}, {"n_k", tokens.n_k}, {"keys", keys}});
  CausalHalves halves;
  const arma::uword before = tokens.n_k - tokens.n_q;
  if (before > 0) halves.levels.push_back({{0, tokens.n_q, 0, before}});
  for (std::vector<CausalHalves::Leaf> parts = {{0, tokens.n_q}}; !parts.empty();) {
    std::vector<CausalHalves::Leaf> halved;
    std::vector<CausalRectangle> level;
    for (const CausalHalves::Leaf& part : parts) {
      const arma::uword left = (part.count + 1) / 2, right = part.count - left, middle = part.first_query + left;
      if (left <= keys) {
        halves.leaves.push_back(part);
        continue;
      }
      level.push_back({middle, right, before + part.first_query, left});
      halved.push_back({part.first_query, left});
      halved.push_back({middle, right});
    }
    if (!level.empty()) halves.levels.push_back(std::move(level));
    parts = std::move(halved);
  }
  return halves;
}

double pairs_of_halves(TokenAlignment tokens, arma::uword keys, arma::uword at_once) {
  require(keys >= 1 && at_once >= 1 && tokens.n_q <= tokens.n_k, "pairs_of_halves",
          "keys >= 1, at_once >= 1, no more queries than keys",
          {{"keys", keys}, {"at_once", at_once}, {"n_q", tokens.n_q}, {"n_k", tokens.n_k}});
  const auto n = static_cast<double>(tokens.n_q);
  double pairs = n * static_cast<double>(std::min(keys, tokens.n_k - tokens.n_q));
  // A level has parts of two lengths, `count` and `count` + 1.
  double longer = 0, shorter = 1;
  arma::uword count = tokens.n_q;
  const auto leaf = [at_once](arma::uword length) {
    const arma::uword parts_of_leaf = length / at_once, rest = length % at_once;
    return static_cast<double>(at_once * at_once * parts_of_leaf * (parts_of_leaf + 1) / 2 + rest * length);
  };
  for (;;) {
    const arma::uword lengths[] = {count, count + 1};
    const double parts[] = {shorter, longer};
    double next[] = {0, 0};
    const arma::uword half = count / 2;  // of the next level
    bool whole = true;
    for (int k = 0; k < 2; ++k) {
      if (parts[k] == 0) continue;
      const arma::uword length = lengths[k], left = (length + 1) / 2, right = length - left;
      if (left <= keys) {
        pairs += parts[k] * leaf(length);
        continue;
      }
      whole = false;
      pairs += parts[k] * static_cast<double>(right) * static_cast<double>(keys);
      next[left - half] += parts[k];
      next[right - half] += parts[k];
    }
    if (whole) return pairs;
    count = half;
    shorter = next[0];
    longer = next[1];
  }
}

arma::uword keys_of_halves(TokenAlignment tokens, double pairs, arma::uword least) {
  arma::uword fits = least, too_many = std::max(least, tokens.n_k) + 1;
  while (too_many - fits > 1) {
    const arma::uword middle = fits + (too_many - fits) / 2;
    (pairs_of_halves(tokens, middle) <= pairs ? fits : too_many) = middle;
  }
  return fits;
}

}  // namespace croquis
