// MRA-2: attention at two resolutions, blocks and tokens.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct Mra2Options {
  enum class Choose {
    global,  ///< the blocks of largest mean logit: the paper's Algorithm 1
    by_row,  ///< of largest mean logit less the largest one of its row of blocks: the code
  };
  enum class Rest {
    means,  ///< a block that is not refined has exp(mean logit) in every entry: MRA-2
    none,   ///< it has nothing, and rows are renormalised: MRA-2-s
  };
  arma::uword block = 32;  ///< b tokens a block, of queries and of keys; the last ones may be shorter
  Choose choose = Choose::global;
  Rest rest = Rest::means;
};

/// Scores by blocks of b queries and b keys. A block has exp(q^.k^ / sqrt(p)) in all entries, q^ and k^ the means of
/// its queries and keys, whose product is the mean of its logits; blocks of largest mean are computed exactly instead.
/// Then rows are divided by their sums (Zeng et al. 2022, MRA-2 with R = {b, 1}). d is the number of keys that a query
/// meets exactly, on average at most: blocks are refined in the order of their mean logit, the first of equals, as long
/// as they have n_q d pairs together. With Rest::none the best block of every row of blocks comes first, whatever d is,
/// so that every query meets a key. Causal (not in the paper): blocks that have masked pairs are always refined, those
/// alone that are masked are left
///   out, and the others are as above; their keys are before all of their queries. No weight goes to later keys; the
///   mean of a block's queries, and the choice among all blocks, depend on later tokens.
/// Guarantees: rows are non-negative and sum to 1; exact for d = n_k, and where tokens of a block are equal. Nothing is
///   drawn. exp(mean) is at most the mean of exp: blocks that are not refined have too little weight, never too much.
/// Cost: 2 n_q n_k p / b^2 flops for the means of all blocks, quadratic with a small constant, and 3 n_q n_k /
/// b^2 numbers of memory; 2 n_q d (p + p_v) for those refined, 12 bytes (double) a pair. 1 <= d <= n_k.
template <typename T>
Approximation<T> mra_2(const Problem<T>& problem, arma::uword d, const Mra2Options& options = {});

template <typename T>
Method<T> mra_2_method();

}  // namespace croquis
