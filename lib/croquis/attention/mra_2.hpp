// MRA-2: attention at two resolutions, blocks and tokens.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct Mra2Options {
  enum class Choose {
    global,  ///< the blocks with the largest mean logits: the paper's Algorithm 1
    by_row,  ///< those with the largest mean logits less the largest one of their row of blocks: the code
  };
  enum class Rest {
    means,  ///< a block that is not refined has exp(mean logit) in every entry: MRA-2
    none,   ///< a block that is not refined is masked, and rows are renormalised: MRA-2-s
  };
  arma::uword block = 32;  ///< b tokens a block, of queries and of keys; the last ones may be shorter
  Choose choose = Choose::global;
  Rest rest = Rest::means;
  arma::uword first = 0;     ///< rows and columns of blocks at the beginning that come first, before all others
  arma::uword diagonal = 0;  ///< w: blocks within w / 2 (rounded down) of the query's own that come first; 0: none
};

/// Scores in blocks of b queries and b keys. A block has exp(q^.k^ / sqrt(p)) in all entries, where q^ and k^ are the
/// means of its queries and keys, so that the exponent is the mean of its logits. The blocks with the largest means are
/// refined: computed exactly. Then rows are divided by their sums (Zeng et al. 2022, MRA-2 with R = {b, 1}).
///
/// d is the number of keys that a query attends to exactly, on average at most: blocks are refined in descending order
/// of their mean logits, the first of equals first, as long as they have at most n_q d pairs together. With Rest::none
/// the best block of a row of blocks comes first, whatever d is, so that every query attends to a key; under a mask not
/// where each query of the row attends to a key of a block that is refined anyway. `first` and `diagonal` are the priors
/// of the authors' code: a block comes before all that are in fewer of the first rows, the first columns and the band
/// about the diagonal.
/// Causal (not in the paper): blocks with some masked pairs are always refined, blocks with only masked pairs are left
///   out, and all keys of the others are before all their queries. No weight goes to later keys, but the mean of a
///   block's queries and the choice among all blocks depend on later tokens.
/// Guarantees: rows are non-negative and sum to 1. Exact for d = n_k, and if the tokens of each block are equal. Not
///   random. exp(mean) is at most the mean of exp, so before rows are divided by their sums the entries of a block that
///   is not refined add up to at most the exact sum. Single rows of it can have too much weight.
/// Cost: 2 n_q n_k (p + p_v) / b^2 flops for the means of all blocks (p alone with Rest::none), which is quadratic with
///   a small constant, and 33 bytes of memory for each block (float: 21); 2 n_q d (p + p_v) flops for the refined
///   blocks, and the memory of sparse_softmax() for their pairs. Blocks that are refined whatever d is (with a causal
///   mask or Rest::none) may take more than n_q d pairs. 1 <= d <= n_k.
template <typename T>
Approximation<T> mra_2(const Problem<T>& problem, arma::uword d, const Mra2Options& options = {});

template <typename T>
Method<T> mra_2_method();

}  // namespace croquis
