// The features of queries and keys, in a form that neither overflows nor loses a row.
#pragma once

#include <armadillo>
#include <croquis/features/feature_maps.hpp>
#include <croquis/features/projections.hpp>
#include <croquis/random/key.hpp>
#include <memory>

namespace croquis {

/// The features of n queries x_i and n' keys y_j, d each.
///
/// Guarantees: phi(x_i).phi(y_j) = exp(log_scale_i) sum_r queries(i, r) keys(j, r), an estimate of exp(x_i.y_j).
/// Unbiased or not:
///                 iid, haar, halton   orthogonal     sorf
///     trf         unbiased            biased (1)     biased (2)
///     prf         unbiased            biased (1)     biased (2)
///     hyperbolic  unbiased            biased (1)     biased (2)
///     sphere      biased (1)          biased (1)     biased (2)
///     oprf        unbiased            biased (1)     biased (2)
///     saderf      unbiased            biased (1)     biased (2)
///   (1) the mean is that of w uniform on the sphere, for prf e^{-(||x||^2+||y||^2)/2} 0F1(p/2; p ||x+y||^2/4): below
///     exp(x.y), by a factor 1 - ||x+y||^4 / (4(p+2)) to first order. (2) of the same order. epsilon > 0 is biased
///     always.
///   Ratios of two such sums, which attention is, are biased in every cell.
///   prf with iid: Var = (e^{||x+y||^2} - 1) e^{2 x.y} / m (Performer Lemma 2). oprf: second moment of one feature pair
///     (1-4a)^p (1-8a)^{-p/2} exp(2 (1-4a)/(1-8a) ||x+y||^2 - ||x||^2 - ||y||^2); bounded, where those of prf are not.
/// Shifts: exponents are shifted before exp. The largest feature of every key column is 1 (by a factor that its query
/// column
///   takes over), then the largest of every query row is 1 (taken over by log_scale). So nothing overflows, and the sum
///   over keys of a positive map is at least 1 for points of any norm. trf: the largest key factor e^{||y||^2/2} is 1.
///   With epsilon: FAVOR+'s shifts, one a query and one for all keys.
/// Randomness: the projection, from the random key. a and Psi are computed from the points and do not look at W.
/// Cost: a block of t tokens and c directions: 2 t c p flops and t c exponentials. Memory O(n p).
/// Throws: std::invalid_argument for points of different width, d = 0, an odd d with trf and hyperbolic, epsilon < 0,
///   epsilon > 0 with trf.
template <typename T>
class FeaturePair {
 public:
  FeaturePair(arma::Mat<T> x, arma::Mat<T> y, arma::uword d, const FeatureOptions& options, const Key& draw_key);
  /// The points scale x_i and scale y_j, without a copy of them.
  FeaturePair(std::shared_ptr<const arma::Mat<T>> x, std::shared_ptr<const arma::Mat<T>> y, T scale, arma::uword d,
              const FeatureOptions& options, const Key& draw_key);

  arma::uword count() const { return functions_ * directions(); }  ///< d
  arma::uword functions() const { return functions_; }             ///< features a direction, 1 or 2
  arma::uword directions() const { return projection_.rows(); }    ///< m
  double exponent() const { return exponent_; }                    ///< a of oprf and saderf, else 0

  /// All features at once.
  struct Matrices {
    arma::Mat<T> queries, keys;  ///< n x d, n' x d; column f m + r is function f of direction r
    arma::Col<T> log_scale;      ///< n
  };
  Matrices matrices() const;

  /// What attention takes from all features: with A = keys^T [X 1], the rows of queries A divided by their last entry.
  struct Attended {
    arma::Mat<T> output;           ///< n x c for X (n' x c); not finite where a sum is zero
    arma::Col<T> sums, log_scale;  ///< queries keys^T 1, to be multiplied by exp(log_scale)
  };
  /// Cost: 2 (n + n') d (p + c + 1) flops, half of the first for two functions a direction. Where there is one, and W
  /// is stored, the features are made in blocks and forgotten: streamed_product(); else memory (n + n') d.
  Attended attend(const arma::Mat<T>& x) const;

  struct Shifts;
  /// attend() in two steps, for keys that are divided into parts, with the shifts of all of them. First A of these
  /// keys, d x (c + 1); then the rows of these queries for the sum of A over all parts. Features are made in blocks.
  arma::Mat<T> key_sums(const arma::Mat<T>& x, const Shifts& shifts) const;
  Attended attend_sums(const arma::Mat<T>& sums, const Shifts& shifts) const;

  /// What the whole set decides, so that blocks fit together. Entry f m + r belongs to column f m + r.
  struct Shifts {
    arma::Col<T> keys;       ///< d, taken from the exponents of the keys
    arma::Col<T> carried;    ///< d, added to the exponents of the queries
    arma::Col<T> queries;    ///< n, taken from the exponents of the queries
    arma::Col<T> log_scale;  ///< n
  };
  Shifts shifts() const { return shifts(key_shifts()); }

  /// The keys' part of the shifts, and the shifts of these queries with it. Of keys that are divided into parts it is
  /// the larger of those of the parts, entry by entry.
  arma::Col<T> key_shifts() const;
  Shifts shifts(const arma::Col<T>& key_shifts) const;

  /// A block of features: the tokens by index, c directions with all their functions: t x functions() c.
  arma::Mat<T> queries(const arma::uvec& tokens, arma::span directions, const Shifts& shifts) const;
  arma::Mat<T> keys(const arma::uvec& tokens, arma::span directions, const Shifts& shifts) const;

 private:
  arma::Mat<T> exponents(const arma::Mat<T>& points, arma::span directions) const;
  void raise_key_shifts(const arma::Mat<T>& block, arma::uword first, Shifts& shifts) const;
  void raise_query_shifts(const arma::Mat<T>& block, arma::uword first, Shifts& shifts) const;
  void carry(Shifts& shifts) const;
  void finish(Shifts& shifts) const;
  Attended attend_streamed(const arma::Mat<T>& x) const;
  template <typename Body>
  void for_blocks(arma::uword tokens, const Body& body) const;
  Shifts empty_shifts() const;
  arma::Mat<T> key_features(const arma::Mat<T>& block, const arma::Col<T>& heights, arma::uword first,
                            const Shifts& shifts) const;
  arma::Mat<T> query_features(const arma::Mat<T>& block, const arma::Col<T>& heights, const arma::Col<T>& row_shifts,
                              arma::uword first, const Shifts& shifts) const;

  FeatureOptions options_;
  arma::uword functions_ = 1;
  std::shared_ptr<const arma::Mat<T>> x_, y_;  // before they are scaled
  Projection<T> projection_;                   // scaled instead
  double exponent_ = 0;
  arma::Row<T> slopes_, offsets_;       // m: the exponent of direction r is slope_r w_r.x + offset_r
  arma::Col<T> x_heights_, y_heights_;  // -||x||^2/2, for trf +||x||^2/2
  double log_factor_ = 0;               // of phi.phi: log of the constants
};

}  // namespace croquis
