// Products with the matrix of feature scores with a relative position.
#pragma once

#include <croquis/attention/relative_features.hpp>
#include <croquis/features/feature_adjoint.hpp>
#include <croquis/features/feature_pair.hpp>
#include <croquis/toeplitz/toeplitz_operator.hpp>
#include <optional>
#include <vector>

namespace croquis {

/// A~_ij = c_{j-i} sum_r queries(i, r) keys(j, r) (n_q x n_k), with the shifted features of a pair: exp(log_scale_i)
/// A~_ij is the estimate of exp(x_i.y_j + b_{j-i}). j - i is the difference of the tokens (TokenAlignment). The path is
/// fft, prefix or direct. On the path fft, some rows can be computed by the direct path instead.
template <typename T>
class RelativeScores {
 public:
  RelativeScores(FeaturePair<T> features, const RelativePosition<T>& position, TokenAlignment tokens,
                 RelativePath path);

  /// A~ X. If `bounds` (n_q x k) is not nullptr, on the path fft: the error bounds of the entries of A~ x, for the last
  /// k columns x of X, E_i = entry_error() sum_r |queries(i, r)| ||keys(., r) o x||_2.
  arma::Mat<T> multiply(const arma::Mat<T>& x, arma::mat* bounds = nullptr) const;
  /// A~^T X. Both, and adjoint(), throw std::invalid_argument for an X with another number of rows.
  arma::Mat<T> multiply_transposed(const arma::Mat<T>& x) const;

  /// The derivatives of <M, A~ X> with respect to the points of the features, X and the bias (empty on the path
  /// prefix), with the same quantities held constant as in FeatureAdjoint. By fft it takes 4 transforms where
  /// multiply() takes 2; directly, scores are computed twice; by prefix, sums run in both directions.
  struct Adjoints {
    typename FeatureAdjoint<T>::Points points;
    arma::Mat<T> x;
    arma::Col<T> bias;
  };
  Adjoints adjoint(const arma::Mat<T>& x, const arma::Mat<T>& of_products) const;

  /// Selects rows, in ascending order, that are computed directly from now on.
  void compute_directly(const arma::uvec& rows) { direct_ = rows; }
  /// Computes the selected rows of y = A~ X directly.
  void replace_direct_rows(const arma::Mat<T>& x, arma::Mat<T>& y) const;

  const arma::Col<T>& log_scale() const { return log_scale_; }
  arma::uword direct_rows() const { return direct_.n_elem; }

 private:
  arma::Mat<T> by_fft(const arma::Mat<T>& x, bool transposed, arma::mat* bounds) const;
  arma::Mat<T> by_prefix(const arma::Mat<T>& x, bool transposed) const;
  void add_direct_transposed(const arma::Mat<T>& x, arma::Mat<T>& y) const;
  arma::Mat<T> prefix_adjoint(const arma::Mat<T>& x, const arma::Mat<T>& m, FeatureAdjoint<T>& of_features) const;
  void fft_adjoint(const arma::Mat<T>& x, arma::Mat<T> m, FeatureAdjoint<T>& of_features, Adjoints& result) const;
  void direct_adjoint(const arma::Mat<T>& x, const arma::Mat<T>& m, FeatureAdjoint<T>& of_features,
                      Adjoints& result) const;
  arma::span directions_from(arma::uword first) const;  // of a block
  bool sees_nothing(arma::uword last_query, arma::uword first_key) const {
    return causal_ && tokens_.key(first_key) > tokens_.query(last_query);
  }
  // Some tokens and their features, of kDirections directions each.
  struct Features {
    arma::uvec tokens;
    std::vector<arma::Mat<T>> blocks;
  };
  Features query_features(const arma::uvec& queries) const;
  Features key_features(const arma::uvec& keys) const;
  arma::Mat<T> block(const Features& keys, const Features& queries) const;  // keys x queries, of A~^T

  FeaturePair<T> features_;
  typename FeaturePair<T>::Shifts shifts_;
  TokenAlignment tokens_;
  bool causal_;
  RelativePath path_;
  std::optional<ToeplitzOperator<T>> toeplitz_;  // not for prefix
  arma::Col<T> log_scale_;
  arma::uvec direct_;  // rows computed directly
};

}  // namespace croquis
