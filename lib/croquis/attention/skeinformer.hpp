// Skeinformer: column sampling with a pilot and adaptive row normalisation, and its ablations.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct SkeinformerOptions {
  enum class Columns {
    pilot,    ///< p_i proportional to (sum_{j in J} b_ji^2)^{1/2} ||V_i|| (Eq. 5)
    uniform,  ///< p_i = 1/n_k; no pilot is drawn, so nothing is re-used
  };
  enum class Rows {
    adaptive,  ///< columns outside J' get the geometric mean of those in J' (Eq. 6)
    simple,    ///< softmax over the columns in J' alone
    weighted,  ///< D^-1 A S S^T V: exact D, J' independent with replacement, weights 1/(d p_i); unbiased given J
    raw,       ///< D^-1 A on the columns in J', exact D, no weights: what the authors' ablation code computes
  };
  Columns columns = Columns::pilot;
  Rows rows = Rows::adaptive;
  arma::uword pilot_rows = 0;  ///< d_0 >= 1 rows of B; 0: as many as columns, d (Skeinformer Alg. 1)
  bool reuse = true;           ///< rows J of O~ are exact (Sec. 4.3)
  bool leave_one = false;      ///< min(d, n_k - 1) columns and pilot rows, as the authors' code
};

/// Skeinformer Alg. 1, with J: d_0 uniform rows, drawn with replacement, and J': d columns, drawn without replacement
/// with p_i ~ (sum_{j in J} b_ji^2)^{1/2} ||V_i|| (Eq. 5):
///   O~_i = (sum_{k in J'} a_ik V_k + g_i sum_{k not in J'} V_k) / (sum_{k in J'} a_ik + (n_k - d) g_i),
/// where g_i is the geometric mean of the a_ik in J'. The rows in J are replaced by the exact ones (pilot re-use). g_i
/// is exp(q_i.k / sqrt(p)) for the mean k of the keys in J', so O~ is a softmax over d + 1 keys.
/// Guarantees: rows of B~ are non-negative and sum to 1. Invariant to a constant added to a row of scores, so the row
///   maximum can be subtracted. Exact for d = n_k. Not unbiased, and without an error bound (the paper says so). The
///   ablations of Table 1 have other `columns`, other `rows`, or no `reuse`. With rows = weighted or raw, rows of B~ do
///   not sum to 1; weighted is the estimator of Prop. 1.
/// Randomness: J from draw_key.child("pilot"), J' from draw_key.child("columns"), so that ablations share their draws.
/// Cost: 2 n_q d (p + p_v) flops for the columns, 2 n_k d_0 (p + p_v) for the pilot (p alone without re-use, 2 p + p_v
///   with re-use and an exact D), 2 n_q n_k p for an exact D. 1 <= d <= n_k.
template <typename T>
Approximation<T> skeinformer(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                             const SkeinformerOptions& options = {});

template <typename T>
Method<T> skeinformer_method();
/// Table 1, "w/ uniform sampling", "w/o row normalization", "w/ simple row normalization", "w/o pilot sampling
/// reutilization".
template <typename T>
Method<T> skeinformer_uniform_method();
template <typename T>
Method<T> skeinformer_no_norm_method();
template <typename T>
Method<T> skeinformer_simple_norm_method();
template <typename T>
Method<T> skeinformer_no_reuse_method();

}  // namespace croquis
