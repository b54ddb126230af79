// HyperAttention: blocks of queries and keys sorted by a hash of their directions, and uniform samples of the other
// keys.
#pragma once

#include <croquis/attention/method.hpp>
#include <croquis/sampling/angular_order.hpp>
#include <limits>
#include <optional>
#include <string_view>

namespace croquis {

struct HyperattentionOptions {
  enum class Values {
    norm,    ///< A S S^T V, with key probabilities ||V_l||^2 / ||V||_F^2: the estimator of the theorem
    shared,  ///< the blocks and sampled keys of the row sums: the authors' code and experiments
  };
  Values values = Values::norm;
  BucketOrder order = BucketOrder::gray;
  arma::uword directions = 7;  ///< r half-spaces of the hash, 1 to 30
  bool masked = true;  ///< sampled keys in the query's block are left out; false: they count twice, as in the code

  /// The default values of the authors' code.
  static HyperattentionOptions code() { return {Values::shared, BucketOrder::transposed, 7, false}; }
};

/// O~ = D~^-1 N (Han et al. 2024). Queries and keys are sorted by angular_order() of one hash and divided into blocks
/// of b keys. A query attends to the block of its rank (Alg. 1). A row sum is estimated from the block and from m
/// uniform keys, drawn with replacement, of which those in the block are left out, with weight n_k / m (Alg. 2 without
/// its two limits, a cap on sampled entries and a lower bound on row sums). N is the same sum with values (shared), or
/// sum_s a_il V_l / (m' p_l) over m' keys l drawn with p_l = ||V_l||^2 / ||V||_F^2 (norm, Alg. 3).
///
/// d is the number of keys that a query attends to. shared: b = ceil(d / 2) and m = d - b. norm: b = d / 2, m = d / 4
/// (rounded down, at least 1), and m' is the rest; the block is then in the row sum only.
///
/// Causal (Alg. 4 for the row sums; the code does the same for the output): causal_halves() gives rectangles, each of
/// which is approximated as above with c keys in place of d, and leaves, which are exact. Row sums and numerators are
/// combined relative to the largest logit. c is the largest number with which no more pairs are attended to than by a
/// mask of at most d keys for each query (most_visits()), and at least 2 (norm: 3). A rectangle of at most c keys is
/// exact. All rectangles have the same hash, and samples of their own. Which earlier keys a query attends to depends on
/// the later queries that it is sorted with.
///
/// Guarantees: given the hash, E D~ = diag(A 1) if samples are masked and m >= 1; E N = A V under the same condition
///   for shared, and always for norm. Exact for d = n_k. With shared, rows of B~ are non-negative and sum to 1. All
///   this holds for the causal form with the causal A. Thm. 1 bounds the error of `norm` with the two limits of Alg. 2,
///   which are not here, by eps ||D^-1 A|| ||V|| for m and m' that grow with kappa, alpha and the stable rank of B
///   (hyperattention_condition).
///
/// Randomness: direction r is normals p r ... p r + p - 1 of draw_key.child("directions"). The m keys are
///   sample_with_replacement on draw_key.child("keys"), the m' keys sample_weighted on draw_key.child("values"); with V
///   = 0 the latter are uniform. In the causal form they are drawn from the children of these two keys with the token
///   of a rectangle's first query.
/// Cost: n_q d (2 (p + p_v) + 1) flops (causal: pairs_of_halves() in place of n_q d, leaves in parts of 64
///   queries), and 2 r p (n_q + n_k) for the hash. 1 (norm: 3) <= d <= n_k.
template <typename T>
Approximation<T> hyperattention(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                const HyperattentionOptions& options = {});

/// The quantities on which theorems about row sums that are estimated from blocks and samples depend (HyperAttention,
/// Thm. 1); NaN if nothing is estimated.
struct SamplingCondition {
  double alpha = std::numeric_limits<double>::quiet_NaN();  ///< n_k max_l ||B e_l||^2
  /// largest over smallest row sum of A outside the blocks; 1 where a block holds all keys
  double kappa = std::numeric_limits<double>::quiet_NaN();
};

/// alpha and kappa for the blocks of a draw. In the causal form every rectangle that is not exact is a problem of its
/// own, with softmax over its keys, and the results are the largest alpha and kappa of these problems.
/// Cost: quadratic, 2 n_q n_k p flops and 2 n_q n_k exponentials; in the causal form at most half of it for n_q = n_k.
/// Throws: std::invalid_argument unless 1 (norm: 3) <= d <= n_k.
template <typename T>
SamplingCondition hyperattention_condition(const Problem<T>& problem, arma::uword d, const Key& draw_key,
                                           const HyperattentionOptions& options = {});

/// The same for a method of the registry with its options. Empty for d = n_k, where hyperattention is exact, and for
/// all other methods.
template <typename T>
std::optional<SamplingCondition> sampling_condition(const Problem<T>& problem, std::string_view method,
                                                    const OptionValues& values, arma::uword d, const Key& draw_key);

template <typename T>
Method<T> hyperattention_method();

}  // namespace croquis
