// One attention head: the input of every method.
#pragma once

#include <armadillo>
#include <memory>
#include <optional>
#include <string_view>

namespace croquis {

/// What a method approximates.
enum class Target {
  softmax,     ///< O = B V, B = D^-1 A, A = exp(Q K^T / sqrt(p)), D = diag(A 1)
  kernelized,  ///< O = C V, C_ij = exp(-||q_i - k_j||^2 / (2 sqrt(p))); rows are not normalised
};
std::string_view name_of(Target target);

/// Queries Q (n x p), keys K (n x p) and values V (n x p_v) of one head; rows are tokens.
///
/// Padding: tokens from `length` on are padding. They are excluded as keys and their output rows are zero, which is
/// the problem of the first `length` tokens: Q(), K(), V() hold those alone, and padded() puts the zero rows back.
/// A Problem never changes and is cheap to copy.
template <typename T>
class Problem {
 public:
  /// Throws std::invalid_argument unless the sizes agree, n, p, p_v >= 1, 1 <= length <= n (default n) and every
  /// entry, padding included, is finite; the message names matrix, row and column.
  Problem(arma::Mat<T> q, arma::Mat<T> k, arma::Mat<T> v, std::optional<arma::uword> length = {});

  const arma::Mat<T>& Q() const { return data_->q; }
  const arma::Mat<T>& K() const { return data_->k; }
  const arma::Mat<T>& V() const { return data_->v; }
  arma::uword n() const { return data_->q.n_rows; }         ///< tokens without padding
  arma::uword padded_n() const { return data_->padded_n; }  ///< tokens with padding
  arma::uword p() const { return data_->q.n_cols; }
  arma::uword p_v() const { return data_->v.n_cols; }

  /// `rows` (n() rows) with zero rows for the padding below.
  arma::Mat<T> padded(arma::Mat<T> rows) const;

 private:
  struct Data {
    arma::Mat<T> q, k, v;
    arma::uword padded_n;
  };
  std::shared_ptr<const Data> data_;
};

}  // namespace croquis
