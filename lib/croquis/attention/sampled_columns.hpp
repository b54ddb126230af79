// Column sampling with exact normalisation: the estimator that Skeinformer's Proposition 1 is about.
#pragma once

#include <croquis/attention/method.hpp>

namespace croquis {

struct SampledColumnsOptions {
  enum class Probabilities {
    pilot,    ///< p_i proportional to (sum_{j in J} b_ji^2)^{1/2} ||V_i|| from d_0 uniform rows J (Skeinformer Eq. 5)
    exact,    ///< p_i proportional to ||B^(i)|| ||V_i||, so that beta = 1 in Prop. 1
    uniform,  ///< p_i = 1/n_k
  };
  Probabilities probabilities = Probabilities::pilot;
  arma::uword pilot_rows = 0;  ///< d_0 >= 1; 0: as many as columns, d
};

/// The options that `values` give by name. Throws std::invalid_argument for a value that an option does not take.
SampledColumnsOptions sampled_columns_options(const OptionValues& values);

/// O~ = B S S^T V with the exact B = D^-1 A on d sampled columns. A column of S is e_i / sqrt(d p_i) with probability
/// p_i, and columns are independent (Skeinformer Def. 3.1, Sec. 4.1).
/// Guarantees: E[O~ | p] = B V if p_i > 0 for all i for which B^(i), column i of B, and V_i are not zero. If p_i >=
///   beta ||B^(i)|| ||V_i|| / sum_k ||B^(k)|| ||V_k||, then ||BV - O~||_F^2 <= eta^2 / (beta d) ||B||_F^2 ||V||_F^2
///   with probability 1 - delta, where eta = 1 + sqrt((8 / beta) log(1 / delta)) (Skeinformer Prop. 1). Rows of B~ do
///   not sum to 1.
/// Randomness: J from draw_key.child("pilot"), columns from draw_key.child("columns"). With V = 0 columns are uniform.
/// Cost: quadratic for D (and for exact probabilities): 2 n_q n_k p flops once for each problem; then 2 n_q d (p +
///   p_v), and 2 n_k d_0 p for the pilot. 1 <= d <= n_k.
template <typename T>
Approximation<T> sampled_columns(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                 const SampledColumnsOptions& options = {});

template <typename T>
Method<T> sampled_columns_method();

}  // namespace croquis
