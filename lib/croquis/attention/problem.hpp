// One attention head: the input of every method.
#pragma once

#include <armadillo>
#include <croquis/core/matrix_layout.hpp>
#include <croquis/toeplitz/relative_position.hpp>
#include <memory>
#include <optional>
#include <string_view>

namespace croquis {

/// The exact attention that a method approximates.
enum class Target {
  softmax,         ///< O = B V, B = D^-1 A, A = exp(Q K^T / sqrt(p)), D = diag(A 1)
  kernelized,      ///< O = C V, C_ij = exp(-||q_i - k_j||^2 / (2 sqrt(p))); rows are not normalised
  normalized,      ///< as softmax with A_ij = exp(q^_i.k^_j), rows of unit length (a zero row stays zero), no 1/sqrt(p)
  softmax_rpe,     ///< as softmax with A_ij = exp(q_i.k_j / sqrt(p) + b_{j-i}), b the problem's position
  normalized_rpe,  ///< as normalized with A_ij = exp(q^_i.k^_j + b_{j-i}): the target of NPRF with bias
};
std::string_view name_of(Target target);

/// Whether rows sum to 1: for all targets but kernelized.
constexpr bool is_normalised(Target target) {
  return target != Target::kernelized;
}
/// Whether the target has the problem's bias: softmax_rpe and normalized_rpe. The other targets do not depend on it. A
/// causal mask applies to all targets: a_ij = 0 and c_ij = 0 for keys after their query.
constexpr bool has_position(Target target) {
  return target == Target::softmax_rpe || target == Target::normalized_rpe;
}
/// Whether queries and keys are divided by their norms: normalized and normalized_rpe.
constexpr bool has_unit_rows(Target target) {
  return target == Target::normalized || target == Target::normalized_rpe;
}

/// The largest allowed norm of a row of Q, K or V for n tokens: sqrt(max / (64 n)), where max is the largest number of
/// type T; 5e151 in double and 7e16 in float for n = 1000. With it, sums of squares over all tokens stay finite, and so
/// do products q.k, squared distances, ||V||_F^2, sums over tokens and their projections; 64 is room for the factors of
/// these. Larger products, as in linear attention Q (K^T V), may overflow.
template <typename T>
double largest_row_norm(arma::uword n);

/// The row of largest norm among those of Q, K and V. Its norm is computed without overflow.
struct LongestRow {
  std::string_view matrix;
  arma::uword row = 0;
  double norm = 0;
};
template <typename T>
LongestRow longest_row(const arma::Mat<T>& q, const arma::Mat<T>& k, const arma::Mat<T>& v);

/// Queries Q (n_q x p), keys K (n_k x p) and values V (n_k x p_v) of one head; rows are tokens. In self-attention n_q =
/// n_k = n, and query i and key i are the same token: the problem is square. Other problems are rectangular: decoding
/// (the last queries against all keys), cross-attention, or some of the queries of a head.
///
/// Padding: keys and values from `length` on are padding. No query attends to them, so K() and V() have only the first
/// `length` rows. In a square problem the queries from `length` on are padding too: Q() has the first `length` rows,
/// and padded() appends zero rows to an output. In a rectangular problem, as in decoding with a key store that is not
/// full, all queries are kept, and padded() changes nothing. For cross-attention with n_q = n_k in which only keys are
/// padding, give the first rows of K and V instead of a length.
///
/// Position: the bias and the causal mask are those of N = max(n_q, n_k) tokens, padding included, of which the queries
/// are the last n_q and the keys the last n_k (TokenAlignment). Under a causal mask query i attends to the keys j <= i
/// + n_k - n_q. The bias has 2N - 1 entries b_t with t = j - i + n_q - n_k. With a length this holds after the padding
/// is removed, so the last query is at the position of the last key that is not padding. A mask (causal, or -inf for a
/// query and a key) requires n_q <= n_k, so that every query attends to a key. With n_q != n_k, b_t for t < 1 - n_k and
/// t > n_q - 1 belongs to no query and key, and means nothing.
///
/// A Problem never changes and is cheap to copy.
template <typename T>
class Problem {
 public:
  /// `length` is n_k by default. By default there is no bias and no mask.
  /// Throws: std::invalid_argument unless the sizes agree, n_q, n_k, p, p_v >= 1, 1 <= length <= n_k, every entry,
  ///   padding included, is finite, and every row that is not padding has a norm of at most
  ///   largest_row_norm<T>(max(n_q, n_k)); the message names matrix, row and column. Also for a position that
  ///   require_valid() or truncated() refuses, and for a mask with n_q > n_k.
  Problem(arma::Mat<T> q, arma::Mat<T> k, arma::Mat<T> v, std::optional<arma::uword> length = {},
          RelativePosition<T> position = {});

  const arma::Mat<T>& Q() const { return data_->q; }
  const arma::Mat<T>& K() const { return data_->k; }
  const arma::Mat<T>& V() const { return data_->v; }
  /// Q and K with shared ownership, for callers that use them longer than the problem.
  std::shared_ptr<const arma::Mat<T>> shared_Q() const { return {data_, &data_->q}; }
  std::shared_ptr<const arma::Mat<T>> shared_K() const { return {data_, &data_->k}; }
  arma::uword n_q() const { return data_->q.n_rows; }  ///< queries without padding
  arma::uword n_k() const { return data_->k.n_rows; }  ///< keys without padding
  bool is_square() const { return n_q() == n_k(); }
  /// The number of tokens of a square problem. Throws std::invalid_argument for a rectangular one.
  arma::uword n() const;
  arma::uword padded_n() const { return data_->padded_n; }  ///< rows of the output with padding
  arma::uword p() const { return data_->q.n_cols; }
  arma::uword p_v() const { return data_->v.n_cols; }
  const RelativePosition<T>& position() const { return data_->position; }  ///< of max(n_q(), n_k()) tokens
  TokenAlignment tokens() const { return {n_q(), n_k()}; }
  bool is_causal() const { return data_->position.causal; }

  /// `rows` (n_q() rows), followed by zero rows for the padding.
  arma::Mat<T> padded(arma::Mat<T> rows) const;

 private:
  struct Data {
    arma::Mat<T> q, k, v;
    arma::uword padded_n;
    RelativePosition<T> position;
  };
  std::shared_ptr<const Data> data_;
};

/// The part of the problem's position that a target has: all of it, or the causal mask only.
template <typename T>
RelativePosition<T> position_of(const Problem<T>& problem, Target target) {
  if (has_position(target)) return problem.position();
  return {.bias = {}, .causal = problem.is_causal(), .height = problem.position().height};
}

}  // namespace croquis
