// Relative position bias: a number added to a logit that depends only on the positions of the query and the key.
#pragma once

#include <algorithm>
#include <armadillo>

namespace croquis {

/// The bias b_{j-i}, which is added to the logit of query i and key j.
///
/// In one dimension (height 1), entry t + n - 1 of `bias` is b_t for t = j - i from -(n-1) to n-1. In two dimensions,
/// tokens are the cells of an image with `height` rows and width = n / height columns, numbered row by row. Then t =
/// (t_row, t_col) is the difference of two cells, and entry (t_row + height - 1)(2 width - 1) + t_col + width - 1 is
/// b_t. This gives (2 height - 1)(2 width - 1) entries. In both cases the entry for t = 0 is in the middle, and keys
/// after their query come after it.
template <typename T>
struct RelativePosition {
  /// |b_t| <= (largest number of T) / 64, or b_t = -inf; b_0 is finite, so that a token attends to itself. Empty: zero.
  arma::Col<T> bias;
  bool causal = false;     ///< keys after their query are masked: b_t = -inf
  arma::uword height = 1;  ///< rows of the image; divides n

  bool is_zero() const { return bias.is_empty() && !causal; }
};

/// n_q queries and n_k keys among N = max(n_q, n_k) tokens: the queries are the last n_q tokens, the keys the last n_k.
/// So the last query is at the position of the last key, as in decoding with stored keys, and t = j - i + n_q - n_k for
/// query i and key j. With n_q = n_k, query i and key i are the same token.
struct TokenAlignment {
  arma::uword n_q = 0, n_k = 0;

  arma::uword n() const { return std::max(n_q, n_k); }              ///< N
  arma::uword query(arma::uword i) const { return n() - n_q + i; }  ///< the token of query i
  arma::uword key(arma::uword j) const { return n() - n_k + j; }    ///< the token of key j
  /// The number of keys that query i attends to under a causal mask, which are the first ones. Requires n_q <= n_k.
  arma::uword causal_keys(arma::uword i) const { return n_k - n_q + i + 1; }
};

/// Indices into the bias: the entry for query i and key j is centre() + place(j) - place(i).
class RelativeGrid {
 public:
  /// Throws std::invalid_argument unless height >= 1 divides n >= 1.
  RelativeGrid(arma::uword n, arma::uword height);

  arma::uword n() const { return height_ * width_; }
  arma::uword height() const { return height_; }
  arma::uword width() const { return width_; }
  arma::uword size() const { return (2 * height_ - 1) * (2 * width_ - 1); }
  arma::uword centre() const { return size() / 2; }
  arma::uword place(arma::uword token) const { return token / width_ * (2 * width_ - 1) + token % width_; }
  /// Whether some query and key have this entry; with n_q = n_k all entries are used. tokens.n() is n().
  bool is_used(arma::uword entry, TokenAlignment tokens) const;

 private:
  arma::uword height_, width_ = 0;
};

/// Throws std::invalid_argument unless `height` divides n, and the bias is empty or has the number of entries for n
/// tokens and allowed values. The message names the entry.
template <typename T>
void require_valid(const RelativePosition<T>& position, arma::uword n);

/// Truncates the bias of n tokens to the first m of them. Throws std::invalid_argument for an image that would lose
/// cells.
template <typename T>
RelativePosition<T> truncated(const RelativePosition<T>& position, arma::uword n, arma::uword m);

/// Whether a query may have a key that it does not attend to: causal, or some b_t that is used is -inf.
template <typename T>
bool has_mask(const RelativePosition<T>& position, TokenAlignment tokens);

/// The position with -inf for each b_t that no query and key have, so that the values of these b_t do not matter.
template <typename T>
RelativePosition<T> used_alone(const RelativePosition<T>& position, TokenAlignment tokens);

/// b with the causal mask included: zeros if there is no bias, and -inf for keys after their query. grid.size()
/// entries.
template <typename T>
arma::Col<T> log_weights(const RelativePosition<T>& position, const RelativeGrid& grid);

}  // namespace croquis
