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
/// Does the problem's bias count: softmax_rpe and normalized_rpe. The other targets are the same with and without it. A
/// causal mask counts for all targets: a_ij = 0, and c_ij = 0, for keys after their query.
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

/// Queries Q (n_q x p), keys K (n_k x p) and values V (n_k x p_v) of one head; rows are tokens. In self-attention
/// n_q = n_k = n, and query i and key i are one token: the problem is square. Other problems are rectangular: decoding
/// (the last queries against all keys), cross-attention, some of the queries of a head.
///
/// Padding: keys and values from `length` on are padding. No query attends to them, so K() and V() hold the first
/// `length` rows alone. In a square problem the queries from `length` on are padding as well: Q() has the first
/// `length` rows, and padded() puts zero rows below the output. In a rectangular problem, as in decoding with a store
/// of keys that is not full, all queries are kept; padded() changes nothing. For cross-attention with as many queries
/// as keys of which only keys are padding, give the first rows of K and V instead of a length.
///
/// Position: the bias and the causal mask are those of N = max(n_q, n_k) tokens, padding included, of which the queries
/// are the last n_q and the keys the last n_k (TokenAlignment): query i attends to keys j <= i + n_k - n_q under a
/// causal mask, and adds b_t, t = j - i + n_q - n_k, of 2N - 1 entries. With a length this is so after the padding is
/// left out, so that the last query stands at the last key that is no padding. A mask (causal, or an entry of -inf)
/// needs n_q <= n_k, so that every query attends to a key.
///
/// A Problem never changes and is cheap to copy.
template <typename T>
class Problem {
 public:
  /// Throws std::invalid_argument unless the sizes agree, n_q, n_k, p, p_v >= 1, 1 <= length <= n_k (default n_k) and
  /// every entry, padding included, is finite; the message names matrix, row and column. So it does unless every row
  /// that is no padding has a norm of at most largest_row_norm<T>(max(n_q, n_k)). The position is checked as
  /// require_valid and cut do; by default there is no bias, and nothing is causal.
  Problem(arma::Mat<T> q, arma::Mat<T> k, arma::Mat<T> v, std::optional<arma::uword> length = {},
          RelativePosition<T> position = {});

  const arma::Mat<T>& Q() const { return data_->q; }
  const arma::Mat<T>& K() const { return data_->k; }
  const arma::Mat<T>& V() const { return data_->v; }
  /// Q and K for those who keep them longer than the problem.
  std::shared_ptr<const arma::Mat<T>> shared_Q() const { return {data_, &data_->q}; }
  std::shared_ptr<const arma::Mat<T>> shared_K() const { return {data_, &data_->k}; }
  arma::uword n_q() const { return data_->q.n_rows; }  ///< queries without padding
  arma::uword n_k() const { return data_->k.n_rows; }  ///< keys without padding
  bool is_square() const { return n_q() == n_k(); }
  /// The tokens of a square problem. Throws std::invalid_argument for a rectangular one.
  arma::uword n() const;
  arma::uword padded_n() const { return data_->padded_n; }  ///< rows of the output with padding
  arma::uword p() const { return data_->q.n_cols; }
  arma::uword p_v() const { return data_->v.n_cols; }
  const RelativePosition<T>& position() const { return data_->position; }  ///< of max(n_q(), n_k()) tokens
  TokenAlignment tokens() const { return {n_q(), n_k()}; }
  bool is_causal() const { return data_->position.causal; }

  /// `rows` (n_q() rows) with zero rows for the padding below.
  arma::Mat<T> padded(arma::Mat<T> rows) const;

 private:
  struct Data {
    arma::Mat<T> q, k, v;
    arma::uword padded_n;
    RelativePosition<T> position;
  };
  std::shared_ptr<const Data> data_;
};

/// What a target takes of the problem's position: all of it, or the causal mask alone.
template <typename T>
RelativePosition<T> position_of(const Problem<T>& problem, Target target) {
  if (has_position(target)) return problem.position();
  return {.bias = {}, .causal = problem.is_causal(), .height = problem.position().height};
}

}  // namespace croquis
