// Synthetic families of problems.
#pragma once

#include <croquis/attention/problem.hpp>
#include <croquis/random/key.hpp>

namespace croquis {

/// Sizes of every family: n tokens, width p of queries, keys and values, and the norm of queries and keys.
struct SyntheticSize {
  arma::uword n = 1024, p = 64;  ///< >= 1
  double norm = 8.0;             ///< R >= 0; sqrt(p) makes the entries of the Gaussian family N(0,1)
};

/// Q and K with independent N(0, R^2 / p) entries, V with independent N(0,1) entries.
/// Randomness: children "query", "key" and "value" of the random key.
Problem<double> gaussian_input(const Key& draw_key, const SyntheticSize& size = {});

/// Rows of Q and K independent and uniform on the sphere of radius R, V with independent N(0,1) entries: the setting of
/// the fixed-norm bounds (NPRF Sec. 3.2).
/// Randomness: as gaussian_input, whose rows are scaled.
Problem<double> sphere_input(const Key& draw_key, const SyntheticSize& size = {});

struct ClusteredInput {
  arma::uword clusters = 16;  ///< >= 1
  double spread = 0.1;        ///< >= 0, relative to R (to 1 for V); 0: exact duplicates
};

/// Token i belongs to a uniform cluster z_i of `clusters`. q_i = c_z + spread R g / sqrt(p), k_i the same with
/// another g, centres uniform on the sphere of radius R, g standard normal; V_i = v_z + spread g. Queries meet keys of
/// their cluster: sharp attention with few distinct rows, low rank when the spread is small.
/// Randomness: children "cluster", "centre", "query", "key", "value centre" and "value" of the random key.
Problem<double> clustered_input(const Key& draw_key, const SyntheticSize& size = {},
                                const ClusteredInput& options = {});

struct HeavyNormsInput {
  double tail = 3.0;  ///< > 0; the smaller, the heavier: no variance at 2 and below
};

/// Rows of Q and K with uniform directions and independent norms t R, P(t > x) = x^-tail for x >= 1: a few tokens that
/// dominate. V as gaussian_input.
/// Randomness: as gaussian_input, and the norms from children "query norm" and "key norm".
Problem<double> heavy_norms_input(const Key& draw_key, const SyntheticSize& size = {},
                                  const HeavyNormsInput& options = {});

struct LowRankInput {
  arma::uword rank = 8;  ///< >= 1; more than p is p
};

/// Tokens X in R^{n x rank} with N(0,1) entries, Q = X W_Q, K = X W_K, V = X W_V, the weights Gaussian so that a query
/// or key has root mean square norm R and an entry of V variance 1. Randomness: children "token", "query", "key" and
/// "value" of the random key.
Problem<double> low_rank_input(const Key& draw_key, const SyntheticSize& size = {}, const LowRankInput& options = {});

struct DuplicatesInput {
  arma::uword distinct = 64;  ///< >= 1
};

/// Every token is one of `distinct` tokens of the Gaussian family, uniformly: q, k and v are repeated together.
/// Randomness: gaussian_input of n = distinct, and child "token" of the random key.
Problem<double> duplicates_input(const Key& draw_key, const SyntheticSize& size = {},
                                 const DuplicatesInput& options = {});

}  // namespace croquis
