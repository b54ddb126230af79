// MInference's vertical-slash pattern: some columns and some diagonals of the scores.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct VerticalSlashOptions {
  arma::uword last = 64;   ///< L >= 1 queries whose exact rows of B choose
  double vertical = 0.14;  ///< share of d that columns take, in [0, 1]; a diagonal takes at least one
  arma::uword first = 0;   ///< columns that are chosen whatever their weight, the first ones; 30 in the code
  arma::uword recent = 0;  ///< diagonals that are, those nearest to the query's own key; 100 in the code
};

/// Softmax over v columns j and d - v diagonals t = j - i (of tokens), v = min(floor(vertical d), d - 1): those whose
/// sums over the exact rows of B of L queries are largest, the first of equals (Jiang et al. 2024, MInference). Causal:
/// the last L queries, as there. Otherwise L queries from all over the sequence, for the last ones see few keys after
/// them; the paper has causal attention alone.
/// d is the number of keys that a query meets at most; columns and diagonals may cross, and diagonals end. A query that
/// meets nothing meets its own key.
/// Guarantees: rows sum to 1; exact for d = n_k. Nothing is drawn. Causal: no weight goes to later keys, but the choice
///   is made by the last queries and is the same for all: what it is for an earlier row depends on later tokens.
/// Cost: 2 n_q d (p + p_v) flops, and 2 min(L, n_q) n_k p to choose. 1 <= d <= n_k.
template <typename T>
Approximation<T> vertical_slash(const Problem<T>& problem, arma::uword d, const VerticalSlashOptions& options = {});

template <typename T>
Method<T> vertical_slash_method();

}  // namespace croquis
