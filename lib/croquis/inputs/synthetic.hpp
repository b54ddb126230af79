// Synthetic families of problems: n tokens with Q, K and V of size n x p. All functions throw std::invalid_argument for
// sizes and options outside their ranges, for more than memory holds, and as the constructor of Problem.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/random/key.hpp>

namespace croquis {

/// The size of a problem in every family: n tokens, the width p of queries, keys and values, and the norm R of queries
/// and keys.
struct SyntheticSize {
  arma::uword n = 1024, p = 64;  ///< >= 1
  double norm = 8.0;             ///< R >= 0; sqrt(p) makes the entries of the Gaussian family N(0,1)
};

/// Q and K with independent N(0, R^2 / p) entries, V with independent N(0,1) entries.
/// Randomness: children "query", "key" and "value" of the random key.
Problem<double> gaussian_input(const Key& draw_key, const SyntheticSize& size = {});

/// Rows of Q and K are independent and uniform on the sphere of radius R, and V has independent N(0,1) entries. This is
/// the setting of the fixed-norm bounds (NPRF Sec. 3.2).
/// Randomness: the rows of gaussian_input, scaled.
Problem<double> sphere_input(const Key& draw_key, const SyntheticSize& size = {});

struct ClusteredInput {
  arma::uword clusters = 16;  ///< >= 1
  double spread = 0.1;        ///< >= 0, relative to R (to 1 for V); 0 gives exact duplicates
};

/// Token i belongs to a cluster z_i, uniform among `clusters`. q_i = c_z + spread R g / sqrt(p) and k_i likewise with
/// another g, where the centres c_z are uniform on the sphere of radius R and g is standard normal. V_i = v_z + spread
/// g. Queries attend to keys of their own cluster. Attention is sharp, with few distinct rows, and has low rank if the
/// spread is small.
/// Randomness: children "cluster", "centre", "query", "key", "value centre" and "value" of the random key.
Problem<double> clustered_input(const Key& draw_key, const SyntheticSize& size = {},
                                const ClusteredInput& options = {});

struct HeavyNormsInput {
  double tail = 3.0;  ///< > 0; a smaller value is a heavier tail, without a variance at 2 and below
};

/// Rows of Q and K have uniform directions and independent norms t R with P(t > x) = x^-tail for x >= 1, so a few
/// tokens dominate. V is that of gaussian_input.
/// Randomness: as gaussian_input, and the norms from children "query norm" and "key norm".
Problem<double> heavy_norms_input(const Key& draw_key, const SyntheticSize& size = {},
                                  const HeavyNormsInput& options = {});

struct LowRankInput {
  arma::uword rank = 8;  ///< >= 1; a value above p means p
};

/// Tokens X in R^{n x rank} have N(0,1) entries, and Q = X W_Q, K = X W_K, V = X W_V. The weights are Gaussian, such
/// that a query or key has root mean square norm R and an entry of V has variance 1.
/// Randomness: children "token", "query", "key" and "value" of the random key.
Problem<double> low_rank_input(const Key& draw_key, const SyntheticSize& size = {}, const LowRankInput& options = {});

struct DuplicatesInput {
  arma::uword distinct = 64;  ///< >= 1
};

/// Every token is one of `distinct` tokens of the Gaussian family, chosen uniformly. q, k and v are repeated together.
/// Randomness: gaussian_input with n = distinct, and child "token" of the random key.
Problem<double> duplicates_input(const Key& draw_key, const SyntheticSize& size = {},
                                 const DuplicatesInput& options = {});

}  // namespace croquis
