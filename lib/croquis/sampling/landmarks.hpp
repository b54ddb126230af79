// Policies by which the landmarks of a Nystrom approximation are chosen.
#pragma once

#include <croquis/kernel/kernel_matrix.hpp>
#include <croquis/random/key.hpp>
#include <croquis/sampling/leverage.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace croquis {

enum class LandmarkPolicy {
  uniform,             ///< independent, with replacement (Skyformer Def. 1)
  stratified,          ///< floor(d/2) of the first stratum, the others of the second, with replacement
  leverage,            ///< independent, with replacement, p_i proportional to the exact l_i(lambda), by one dense
                       ///< eigenvalue problem; lambda = ridge_for(leverage_rank(d))
  recursive_leverage,  ///< different points, by scores estimated at such a ridge; no n x n matrix (Musco & Musco 2017)
  rp_cholesky,         ///< different points, by randomly pivoted Cholesky; fewer than d if the rank is lower
  given,               ///< the first d of a list
};

/// The names are uniform, stratified, leverage, recursive, rpcholesky and given. landmark_policy throws
/// std::invalid_argument for any other name.
const std::vector<std::string>& landmark_policy_names();
LandmarkPolicy landmark_policy(const std::string& name);

/// The leading terms of the flops of a policy for d of n points of width p with a Gaussian kernel: n^2 (9 n + 2 p + 1)
/// for leverage, once for all draws; about n d (2 p + 1 + d / 2) for recursive_leverage; n d (2 p + 1 + d) for
/// rp_cholesky; 0 for the others, which look at no entry.
double landmark_flops(LandmarkPolicy policy, double n, double p, double d);

/// A policy for one kernel matrix (n x n). The constructor does the work that does not depend on the draw. Thread-safe.
template <typename T>
class LandmarkSampler {
 public:
  /// `list` is for LandmarkPolicy::given, which needs at least one index. `first_stratum` is for
  /// LandmarkPolicy::stratified: the number of points in the first of the two strata, n / 2 by default.
  /// Throws: std::invalid_argument for `given` without a list and for another policy with one; as RidgeLeverage for
  ///   `leverage`.
  LandmarkSampler(KernelMatrix<T> matrix, LandmarkPolicy policy, arma::uvec list = {},
                  std::optional<arma::uword> first_stratum = {});

  /// At most d indices < n, for 1 <= d <= n. For `given`, d must be at most the length of the list.
  /// Randomness: uniform: sample_with_replacement on the key; stratified: the same on its children "queries" and
  ///   "keys"; leverage: sample_weighted on the key; recursive_leverage and rp_cholesky: see their functions; given:
  ///   none.
  /// Throws: std::invalid_argument for any other d, for indices of the list that are not < n, and for stratified unless
  ///   both strata have a point.
  arma::uvec draw(arma::uword d, const Key& draw_key) const;

 private:
  KernelMatrix<T> matrix_;
  LandmarkPolicy policy_;
  arma::uvec list_;
  arma::uword first_stratum_;
  std::shared_ptr<const RidgeLeverage<T>> leverage_;  // for LandmarkPolicy::leverage
};

}  // namespace croquis
