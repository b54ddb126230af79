// Which points a Nystrom approximation is built on.
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
  leverage,            ///< independent, p_i ~ l_i(lambda) exact, lambda = ridge_for(d): one dense eigenvalue problem
  recursive_leverage,  ///< different points, approximate scores without n x n (Musco & Musco 2017)
  rp_cholesky,         ///< different points, randomly pivoted Cholesky; fewer than d when the rank is lower
  given,               ///< the first d of a list
};

/// Names: uniform, stratified, leverage, recursive, rpcholesky, given. landmark_policy throws std::invalid_argument for
/// another one.
const std::vector<std::string>& landmark_policy_names();
LandmarkPolicy landmark_policy(const std::string& name);

/// A policy on one kernel matrix; what all draws share is computed on construction. Thread-safe.
template <typename T>
class LandmarkSampler {
 public:
  /// `list` goes with LandmarkPolicy::given and is not empty then; `first_stratum` is the number of points in the first
  /// of the two strata, by default half of them, and goes with LandmarkPolicy::stratified.
  LandmarkSampler(KernelMatrix<T> matrix, LandmarkPolicy policy, arma::uvec list = {},
                  std::optional<arma::uword> first_stratum = {});

  /// At most d indices < n. 1 <= d <= n; d <= length of the list, whose indices are < n, for `given`.
  /// Randomness: the random key, in the way of each policy.
  arma::uvec draw(arma::uword d, const Key& draw_key) const;

 private:
  KernelMatrix<T> matrix_;
  LandmarkPolicy policy_;
  arma::uvec list_;
  arma::uword first_stratum_;
  std::shared_ptr<const RidgeLeverage<T>> leverage_;  // for LandmarkPolicy::leverage
};

}  // namespace croquis
