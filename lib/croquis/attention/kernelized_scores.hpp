// The Nystrom approximation of the kernelized scores, in two steps: for keys that may be divided into parts.
#pragma once

#include <croquis/attention/normalised_core.hpp>
#include <croquis/attention/skyformer.hpp>
#include <croquis/kernel/streamed_extra.hpp>
#include <functional>
#include <memory>

namespace croquis {

/// C~ = left (W + gamma I)^+ right^T with left = kappa(Q, L), right = kappa(K, L) and W = kappa(L, L), for the
/// landmarks L. C~ X = spread(gather(X)). If a lift has only some of the keys, the gather() of all parts is summed
/// before spread() gives the rows of these queries. Cheap to copy.
template <typename T>
class KernelizedScores {
 public:
  /// `landmarks` are d points, neither scaled nor centred; `drawn` >= d is their number including repetitions.
  /// Throws: std::runtime_error if the pseudo-inverse of the core cannot be computed.
  KernelizedScores(LiftedPoints<T> lift, arma::Mat<T> landmarks, arma::uword drawn, const SkyformerOptions& options);

  /// right^T X, d x c for X (n_k x c).
  arma::Mat<T> gather(const arma::Mat<T>& x) const;
  /// left (W + gamma I)^+ Y, n_q x c for Y (d x c). `diagnostics`, if given, receives those of the inverse.
  /// Throws: std::runtime_error if the iterative inverse diverges.
  arma::Mat<T> spread(const arma::Mat<T>& gathered, const StreamedExtra<T>& extra = {},
                      Diagnostics* diagnostics = nullptr) const;
  /// C~ X for a single X: left and right are computed in blocks, and not stored.
  arma::Mat<T> apply(const arma::Mat<T>& x, const StreamedExtra<T>& extra = {},
                     Diagnostics* diagnostics = nullptr) const;
  /// spread(Y) without its last column, which goes to `last`, and in `moved_last` an estimate, row by row, of how far
  /// rounding moves that last column. The last column of Y (d x c) must be gather() of an X >= 0. The estimate is the
  /// sum of two sizes. The first is how far the column moves if the gathered sums change by as much as their rounding
  /// error, and the solution by the rounding error of the core's inverse (for Lemma 3's iteration: `rounding` of
  /// iterative_solve). It is the largest for up to eight changes, one for each bit of a landmark's index, which chooses
  /// the sign: two landmarks whose terms cancel have opposite signs in one of them. The second is epsilon sum_a e_a
  /// |z_a| for an entry sum_a e_a z_a, in which no terms cancel.
  arma::Mat<T> spread(const arma::Mat<T>& gathered, arma::Col<T>& last, arma::Col<T>& moved_last,
                      Diagnostics* diagnostics) const;
  /// C~ for many X, with left and right in memory.
  LinearOperator<T> stored() const;

  /// The derivatives of <G, C~ X> with respect to the queries, the keys, the landmarks (all as they are given) and X. A
  /// landmark is a query or a key, to whose derivatives its own are to be added. The adjoint of a pseudo-inverse is
  /// pseudo_inverse_psd_adjoint, that of the iterative inverse iterative_inverse_adjoint.
  struct Adjoints {
    arma::Mat<T> queries, keys, landmarks, x;
  };
  Adjoints adjoint(const arma::Mat<T>& x, const arma::Mat<T>& cotangent) const;

 private:
  // (W + gamma I)^+ Y, and of the iterative inverse the rounding of the last column.
  arma::Mat<T> solve(const arma::Mat<T>& y, Diagnostics& diagnostics, arma::Col<T>* rounding = nullptr) const;
  arma::Mat<T> core_adjoint(const arma::Mat<T>& kernel, const arma::Mat<T>& gathered, const arma::Mat<T>& applied,
                            const arma::Mat<T>& of_gathered, const arma::Mat<T>& of_applied) const;

  LiftedPoints<T> lift_;
  arma::Mat<T> landmarks_;
  arma::uword drawn_;
  SkyformerOptions options_;
  std::shared_ptr<const NormalisedCore<T>> normalised_;  // of the iterative inverse; shared, as copies are cheap
  std::shared_ptr<const arma::Mat<T>> core_;             // W + gamma I, of the pseudo-inverse
  LinearOperator<T> inverse_;                            // (W + gamma I)^+, for more than one product
  Diagnostics diagnostics_;                              // what is known without a product
};

/// The landmarks without repetitions if the core is inverted by a pseudo-inverse without a ridge, otherwise the
/// landmarks as they are. A repeated point adds nothing to the span, and without it the core has full rank, so that its
/// pseudo-inverse is cheaper and more accurate. `rows_of` gives the rows at some indices.
template <typename T>
struct DistinctLandmarks {
  arma::uvec indices;
  arma::Mat<T> rows;
};
template <typename T>
DistinctLandmarks<T> distinct_where_it_is_better(const arma::uvec& drawn, const SkyformerOptions& options,
                                                 const std::function<arma::Mat<T>(const arma::uvec&)>& rows_of);

/// f(x) = ||x||^2 / (2 sqrt(p)) for the rows x, in the logarithmic form of Skyformer Lemma 1, log a_ij = f(q_i) + log
/// c_ij + f(k_j).
template <typename T>
arma::Col<T> log_prefactors(const arma::Mat<T>& rows);

/// diag(weights) [V 1]. The column of ones gives the denominators.
template <typename T>
arma::Mat<T> weighted_values(const arma::Mat<T>& v, const arma::Col<T>& weights);

/// Rows of skyformer_softmax.
template <typename T>
struct SoftmaxRows {
  arma::Mat<T> output;  ///< N / s for [N s] = C~ diag(weights) [V 1]
  arma::Col<T> sums;    ///< s
  /// the number of rows with |s| < min / epsilon: a term below min, the smallest normal number, loses digits
  arma::uword zero = 0;
  arma::uword rounded = 0;  ///< the number of other rows whose s is NaN, or may be moved by a tenth by rounding
};

/// The rows, from gather(weighted_values(V, weights)).
template <typename T>
SoftmaxRows<T> softmax_rows(const KernelizedScores<T>& scores, const arma::Mat<T>& gathered,
                            Diagnostics* diagnostics = nullptr);
/// Throws std::runtime_error, with the number of rows, unless zero and rounded (of SoftmaxRows) are 0.
void require_denominators(arma::uword zero, arma::uword rounded);

}  // namespace croquis
