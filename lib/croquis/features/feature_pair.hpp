// The features of queries and keys, in a form in which nothing overflows and no row is lost.
#pragma once

#include <armadillo>
#include <croquis/features/feature_maps.hpp>
#include <croquis/features/projections.hpp>
#include <croquis/random/key.hpp>
#include <memory>

namespace croquis {

template <typename T>
class FeatureAdjoint;

/// The d features of each of n_q queries x_i (n_q x p) and n_k keys y_j (n_k x p).
///
/// Guarantees: phi(x_i).phi(y_j) = exp(log_scale_i) sum_r queries(i, r) keys(j, r) is an estimate of exp(x_i.y_j). This
///   table says whether it is unbiased:
///                 iid, haar, halton   orthogonal     sorf
///     trf         unbiased            biased (1)     biased (2)
///     prf         unbiased            biased (1)     biased (2)
///     hyperbolic  unbiased            biased (1)     biased (2)
///     sphere      biased (1)          biased (1)     biased (2)
///     oprf        unbiased            biased (1)     biased (2)
///     saderf      unbiased            biased (1)     biased (2)
///   (1) The mean is that for w uniform on the sphere. For prf it is e^{-(||x||^2+||y||^2)/2} 0F1(p/2; p ||x+y||^2/4),
///   which is below exp(x.y) by a factor 1 - ||x+y||^4 / (4(p+2)) to first order. (2) The bias is of the same order.
///   With epsilon > 0 every combination is biased. Ratios of two such sums, and so attention, are always biased.
///   prf with iid: Var = (e^{||x+y||^2} - 1) e^{2 x.y} / m (Performer Lemma 2). oprf: the second moment of one feature
///   pair is (1-4a)^p (1-8a)^{-p/2} exp(2 (1-4a)/(1-8a) ||x+y||^2 - ||x||^2 - ||y||^2). Features of oprf are bounded,
///   those of prf are not.
/// Shifts: exponents are shifted before exp is applied. First, the largest feature of every key column is made 1, by a
///   factor that the query column takes over. Then the largest feature of every query row is made 1, by a factor that
///   log_scale takes over. So nothing overflows, and for a positive map the sum over keys is at least 1 for points of
///   any norm. For trf the largest key factor e^{||y||^2/2} is made 1. With epsilon the shifts are those of FAVOR+, one
///   for each query and one for all keys.
/// Randomness: the projection W, from the random key. a and Psi are computed from the points and do not depend on W.
/// Cost: 2 t c p flops and t c exponentials for a block of t tokens and c directions. Memory O((n_q + n_k) p).
/// Throws: std::invalid_argument as Projection, for no points or points of different width, for d = 0, an odd d with
///   trf and hyperbolic, epsilon < 0, epsilon > 0 with trf, and for sphere with sorf where a direction is 0. A block of
///   p' directions, where p' is p rounded up to a power of two, has such a direction with probability 1/4 at p = 3,
///   9/64 at p = 5, 3/64 at p = 6, .005 at p = 9 and less beyond; it has none at p = 7 and at powers of two.
template <typename T>
class FeaturePair {
 public:
  FeaturePair(arma::Mat<T> x, arma::Mat<T> y, arma::uword d, const FeatureOptions& options, const Key& draw_key);
  /// For the points scale x_i and scale y_j, without a copy of them.
  FeaturePair(std::shared_ptr<const arma::Mat<T>> x, std::shared_ptr<const arma::Mat<T>> y, T scale, arma::uword d,
              const FeatureOptions& options, const Key& draw_key);

  arma::uword n_q() const { return x_->n_rows; }
  arma::uword n_k() const { return y_->n_rows; }
  arma::uword p() const { return x_->n_cols; }
  arma::uword count() const { return functions_ * directions(); }  ///< d
  arma::uword functions() const { return functions_; }             ///< features for each direction, 1 or 2
  arma::uword directions() const { return projection_.rows(); }    ///< m
  double exponent() const { return exponent_; }                    ///< a of oprf and saderf, otherwise 0

  /// All features at once.
  struct Matrices {
    arma::Mat<T> queries, keys;  ///< n_q x d, n_k x d; column f m + r is function f of direction r
    arma::Col<T> log_scale;      ///< n_q
  };
  Matrices matrices() const;

  /// Attention by the features. With A = keys^T [X 1], the rows of queries A are divided by their last entry.
  struct Attended {
    arma::Mat<T> output;           ///< n_q x c for X (n_k x c); not finite where a sum is zero
    arma::Col<T> sums, log_scale;  ///< queries keys^T 1, to be multiplied by exp(log_scale)
  };
  /// X is n_k x c. If there is one feature for each direction and W is stored, the features are computed in blocks and
  /// never stored, by streamed_product(). Otherwise the memory is (n_q + n_k) d.
  /// Cost: 2 (n_q + n_k) d (p + c + 1) flops; with two features for each direction the term with p is half of that.
  Attended attend(const arma::Mat<T>& x) const;

  struct Shifts;
  /// attend() in two steps, for keys that are divided into parts; `shifts` are those of all parts. key_sums() returns A
  /// of these keys, d x (c + 1). attend_sums() returns the rows of these queries for the sum of A over all parts.
  /// Features are computed in blocks.
  arma::Mat<T> key_sums(const arma::Mat<T>& x, const Shifts& shifts) const;
  Attended attend_sums(const arma::Mat<T>& sums, const Shifts& shifts) const;

  /// The shifts of the whole set of points, so that blocks fit together. Entry f m + r belongs to column f m + r.
  struct Shifts {
    arma::Col<T> keys;       ///< d, subtracted from the exponents of the keys
    arma::Col<T> carried;    ///< d, added to the exponents of the queries
    arma::Col<T> queries;    ///< n_q, subtracted from the exponents of the queries
    arma::Col<T> log_scale;  ///< n_q, as in Matrices
  };
  Shifts shifts() const { return shifts(key_shifts()); }

  /// The part of the shifts that depends on the keys, and the shifts of these queries for given key shifts. If the keys
  /// are divided into parts, the key shifts of the whole are the entrywise maximum of those of the parts.
  arma::Col<T> key_shifts() const;
  Shifts shifts(const arma::Col<T>& key_shifts) const;

  /// A block of features (t x functions() c): t tokens, given by index, and c directions with all their functions.
  arma::Mat<T> queries(const arma::uvec& tokens, arma::span directions, const Shifts& shifts) const;
  arma::Mat<T> keys(const arma::uvec& tokens, arma::span directions, const Shifts& shifts) const;

 private:
  friend class FeatureAdjoint<T>;

  arma::Mat<T> exponents(const arma::Mat<T>& points, arma::span directions) const;
  void raise_key_shifts(const arma::Mat<T>& block, arma::uword first, Shifts& shifts) const;
  void raise_query_shifts(const arma::Mat<T>& block, arma::uword first, Shifts& shifts) const;
  void carry(Shifts& shifts) const;
  void finish(Shifts& shifts) const;
  Attended attend_streamed(const arma::Mat<T>& x) const;
  template <typename Body>
  void for_blocks(arma::uword tokens, const Body& body) const;
  Shifts empty_shifts() const;
  arma::Mat<T> key_features(const arma::Mat<T>& block, const arma::Col<T>& log_prefactors, arma::uword first,
                            const Shifts& shifts) const;
  arma::Mat<T> query_features(const arma::Mat<T>& block, const arma::Col<T>& log_prefactors,
                              const arma::Col<T>& row_shifts, arma::uword first, const Shifts& shifts) const;

  FeatureOptions options_;
  arma::uword functions_ = 1;
  std::shared_ptr<const arma::Mat<T>> x_, y_;  // not scaled
  T scale_ = 1;
  arma::Row<T> balance_;      // Psi of saderf
  Projection<T> projection_;  // scaled in place of the points
  double exponent_ = 0;
  arma::Row<T> slopes_, offsets_;                     // m: the exponent of direction r is slope_r w_r.x + offset_r
  arma::Col<T> x_log_prefactors_, y_log_prefactors_;  // -||x||^2/2, for trf +||x||^2/2
  double log_factor_ = 0;                             // of phi.phi: log of the constants
};

}  // namespace croquis
