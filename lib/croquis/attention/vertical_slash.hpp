// MInference's vertical-slash pattern: some columns and some diagonals of the scores.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct VerticalSlashOptions {
  arma::uword last = 64;   ///< L >= 1 queries from whose exact rows of B columns and diagonals are chosen
  double vertical = 0.14;  ///< share of d for columns, in [0, 1]; there is at least one diagonal
  arma::uword first = 0;   ///< first columns, chosen whatever their weight; 30 in the code
  arma::uword recent = 0;  ///< diagonals nearest to the query's own key, chosen whatever their weight; 100 in the code
};

/// Softmax over v columns j and d - v diagonals t = j - i (of tokens), v = min(floor(vertical d), d - 1): those with
/// the largest sums over the exact rows of B of L queries, of equal sums the first (Jiang et al. 2024, MInference). On
/// a causal problem these are the last L queries, as in the paper, which has only causal attention. Otherwise they are
/// spread evenly over the sequence, because the last queries have few keys after them.
///
/// d is the maximum number of keys that a query attends to; columns and diagonals may cross, and diagonals end. A query
/// without any such key attends to its own.
/// Guarantees: rows sum to 1; exact for d = n_k. Not random.
/// Causal: no weight goes to later keys, but the last queries choose columns and diagonals for all rows, so an earlier
///   row depends on later tokens.
/// Cost: 2 n_q d (p + p_v) flops, and 2 min(L, n_q) n_k p for the choice. 1 <= d <= n_k.
template <typename T>
Approximation<T> vertical_slash(const Problem<T>& problem, arma::uword d, const VerticalSlashOptions& options = {});

template <typename T>
Method<T> vertical_slash_method();

}  // namespace croquis
