// One attention head: the input of every method.
#pragma once

#include <armadillo>
#include <croquis/toeplitz/relative_position.hpp>
#include <memory>
#include <optional>
#include <string_view>

namespace croquis {

/// What a method approximates.
enum class Target {
  softmax,         ///< O = B V, B = D^-1 A, A = exp(Q K^T / sqrt(p)), D = diag(A 1)
  kernelized,      ///< O = C V, C_ij = exp(-||q_i - k_j||^2 / (2 sqrt(p))); rows are not normalised
  normalized,      ///< as softmax with A_ij = exp(q^_i.k^_j), rows of unit length (a zero row stays zero), no 1/sqrt(p)
  softmax_rpe,     ///< as softmax with A_ij = exp(q_i.k_j / sqrt(p) + b_{j-i}), b the problem's position
  normalized_rpe,  ///< as normalized with A_ij = exp(q^_i.k^_j + b_{j-i}): the target of NPRF with bias
};
std::string_view name_of(Target target);

/// Do rows sum to 1: all targets but kernelized.
constexpr bool is_normalised(Target target) {
  return target != Target::kernelized;
}
/// Does the problem's position count: softmax_rpe and normalized_rpe. The other targets are the same with and without
/// it.
constexpr bool has_position(Target target) {
  return target == Target::softmax_rpe || target == Target::normalized_rpe;
}
/// Are queries and keys brought to unit length: normalized and normalized_rpe.
constexpr bool has_unit_rows(Target target) {
  return target == Target::normalized || target == Target::normalized_rpe;
}

/// The largest norm of a row of Q, K or V for n tokens: sqrt(max / (64 n)), max the largest number of T; 5e151 in
/// double and 7e16 in float for n = 1000. Sums of squares over all tokens, which are at most n times the largest row's,
/// stay finite, and with them products q.k, squared distances (4 times a square), ||V||_F^2, sums over tokens and their
/// projections; 64 is room for these factors. What a method multiplies beyond that, as linear attention Q (K^T V), may
/// overflow, and is not finite then.
template <typename T>
double largest_row_norm(arma::uword n);

/// The row of largest norm among those of Q, K and V; its norm is right wherever it is below the largest double.
struct LongestRow {
  std::string_view matrix;
  arma::uword row = 0;
  double norm = 0;
};
template <typename T>
LongestRow longest_row(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& v);

/// Queries Q (n x p), keys K (n x p) and values V (n x p_v) of one head; rows are tokens.
///
/// Padding: tokens from `length` on are padding. They are excluded as keys and their output rows are zero, which is
/// the problem of the first `length` tokens: Q(), K(), V() hold those alone, and padded() puts the zero rows back.
/// The position (bias b_{j-i} for n tokens, padding included, and causality) is cut to those tokens too.
/// A Problem never changes and is cheap to copy.
template <typename T>
class Problem {
 public:
  /// Throws std::invalid_argument unless the sizes agree, n, p, p_v >= 1, 1 <= length <= n (default n) and every
  /// entry, padding included, is finite; the message names matrix, row and column. So it does unless every row that is
  /// no padding has a norm of at most largest_row_norm<T>(n). The position is checked as require_valid and cut do; by
  /// default there is no bias, and nothing is causal.
  Problem(arma::Mat<T> q, arma::Mat<T> k, arma::Mat<T> v, std::optional<arma::uword> length = {},
          RelativePosition<T> position = {});

  const arma::Mat<T>& Q() const { return data_->q; }
  const arma::Mat<T>& K() const { return data_->k; }
  const arma::Mat<T>& V() const { return data_->v; }
  /// Q and K for those who keep them longer than the problem.
  std::shared_ptr<const arma::Mat<T>> shared_Q() const { return {data_, &data_->q}; }
  std::shared_ptr<const arma::Mat<T>> shared_K() const { return {data_, &data_->k}; }
  arma::uword n() const { return data_->q.n_rows; }         ///< tokens without padding
  arma::uword padded_n() const { return data_->padded_n; }  ///< tokens with padding
  arma::uword p() const { return data_->q.n_cols; }
  arma::uword p_v() const { return data_->v.n_cols; }
  const RelativePosition<T>& position() const { return data_->position; }  ///< of the n() unpadded tokens

  /// `rows` (n() rows) with zero rows for the padding below.
  arma::Mat<T> padded(arma::Mat<T> rows) const;

 private:
  struct Data {
    arma::Mat<T> q, k, v;
    arma::uword padded_n;
    RelativePosition<T> position;
  };
  std::shared_ptr<const Data> data_;
};

}  // namespace croquis
