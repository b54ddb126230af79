// The Nystrom approximation of the kernelized scores, in steps: for keys that are in one place or divided into parts.
#pragma once

#include <croquis/attention/skyformer.hpp>
#include <croquis/kernel/streamed_extra.hpp>

namespace croquis {

/// C~ = left (W + gamma I)^+ right^T, left = kappa(Q, L), right = kappa(K, L), W = kappa(L, L), for the landmarks L.
/// C~ X is spread(gather(X)). Of a lift of which some points are elsewhere, gather() is summed over all parts before
/// spread() gives the rows of these queries. Cheap to copy.
template <typename T>
class KernelizedScores {
 public:
  /// `landmarks` are d points as they are given; `drawn` >= d is their number with those that were drawn twice. Throws
  /// std::runtime_error when the core cannot be inverted.
  KernelizedScores(LiftedPoints<T> lift, arma::Mat<T> landmarks, arma::uword drawn, const SkyformerOptions& options);

  /// right^T X, d x c for X (n_k x c).
  arma::Mat<T> gather(const arma::Mat<T>& x) const;
  /// left (W + gamma I)^+ Y, n_q x c for Y (d x c).
  arma::Mat<T> spread(const arma::Mat<T>& gathered, const StreamedExtra<T>& extra = {}) const;
  /// C~ X for a single X: left and right are made in blocks, and forgotten.
  arma::Mat<T> apply(const arma::Mat<T>& x, const StreamedExtra<T>& extra = {}) const;
  /// C~ for many, with left and right in memory.
  LinearOperator<T> stored() const;

  /// The derivatives of <G, C~ X> by the queries, the keys, the landmarks (all as they are given) and X. A landmark is
  /// a query or a key, so that its derivatives belong to these. The adjoint of a pseudo-inverse is that of
  /// pseudo_inverse_psd_adjoint, of the iterative inverse that of its steps.
  struct Adjoints {
    arma::Mat<T> queries, keys, landmarks, x;
  };
  Adjoints adjoint(const arma::Mat<T>& x, const arma::Mat<T>& cotangent) const;

  const Diagnostics& diagnostics() const { return diagnostics_; }

 private:
  arma::Mat<T> core_adjoint(const arma::Mat<T>& kernel, const arma::Mat<T>& gathered, const arma::Mat<T>& applied,
                            const arma::Mat<T>& of_gathered, const arma::Mat<T>& of_applied) const;

  LiftedPoints<T> lift_;
  arma::Mat<T> landmarks_;
  arma::uword drawn_;
  SkyformerOptions options_;
  Diagnostics diagnostics_;
  LinearOperator<T> inverse_;
};

/// Landmarks without repetition where a pseudo-inverse is taken and there is no ridge: a point that is drawn twice adds
/// nothing to the span, and without it the core is of full rank and a pseudo-inverse cheaper. As they are otherwise.
arma::uvec distinct_where_it_is_cheaper(const arma::uvec& landmarks, const SkyformerOptions& options);

/// Skyformer Lemma 1 in logarithms: log a_ij = f(q_i) + log c_ij + f(k_j), f(x) = ||x||^2 / (2 sqrt(p)), for the rows
/// x.
template <typename T>
arma::Col<T> log_prefactors(const arma::Mat<T>& rows);

/// [V 1] with rows times weights: the denominators come with the output.
template <typename T>
arma::Mat<T> weighted_values(const arma::Mat<T>& v, const arma::Col<T>& weights);

}  // namespace croquis
