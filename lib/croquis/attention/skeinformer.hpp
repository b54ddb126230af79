// Skeinformer: column sampling with a pilot and adaptive row normalisation.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct SkeinformerOptions {
  arma::uword pilot_rows = 0;  ///< d_0 >= 1 rows of B; 0: as many as columns, d (Skeinformer Alg. 1)
};

/// Skeinformer Alg. 1. With J: d_0 uniform rows, with replacement, and J': d columns, without replacement, drawn with
/// p_i ~ (sum_{j in J} b_ji^2)^{1/2} ||V_i|| (Eq. 5):
///   O~_i = (sum_{k in J'} a_ik V_k + g_i sum_{k not in J'} V_k) / (sum_{k in J'} a_ik + (n - d) g_i),
/// g_i the geometric mean of the a_ik in J'; and the rows in J are replaced by the exact ones (pilot re-use).
/// Law: rows of B~ are non-negative and sum to 1; invariant to a constant added to a row of scores, which is why the
///   row maximum can be taken out; exact for d = n. Not unbiased, no bound (the paper says so).
/// Randomness: J from stream.child("pilot"), J' from stream.child("columns").
/// Cost: 2 n d (p + p_v) for the columns, 2 n d_0 (p + p_v) for the pilot. 1 <= d <= n.
template <typename T>
Approximation<T> skeinformer(const Problem<T>& problem, arma::uword d, const Stream& stream,
                             const SkeinformerOptions& options = {});

template <typename T>
Method<T> skeinformer_method();

}  // namespace croquis
