// Relative position bias: what is added to a log-score by where two tokens stand.
#pragma once

#include <algorithm>
#include <armadillo>

namespace croquis {

/// b_{j-i}, added to the log-score of query i and key j.
///
/// In one dimension (height 1) entry t + n - 1 of `bias` is b_t, t = j - i from -(n-1) to n-1. In two, tokens are the
/// cells of an image of `height` rows and width = n / height columns, row by row, t = (t_row, t_col) is the difference
/// of cells, and entry (t_row + height - 1)(2 width - 1) + t_col + width - 1 is b_t, which gives (2 height - 1)(2 width
/// - 1) entries. In both cases a key after its query has an entry after that of t = 0, which stands in the middle.
template <typename T>
struct RelativePosition {
  arma::Col<T> bias;       ///< finite or -inf, b_0 finite so that a token sees itself; empty: zero
  bool causal = false;     ///< b_t = -inf for every key after its query
  arma::uword height = 1;  ///< rows of the image; divides n

  bool is_zero() const { return bias.is_empty() && !causal; }
  /// Whether some b_t is -inf.
  bool has_mask() const { return causal || bias.has_inf(); }
};

/// n_q queries and n_k keys among N = max(n_q, n_k) tokens: the queries are the last n_q tokens, the keys the last n_k.
/// So the last query stands at the last key, as in decoding with stored keys, and t = j - i + n_q - n_k for query i and
/// key j. With n_q = n_k, query i and key i are one token.
struct TokenAlignment {
  arma::uword n_q = 0, n_k = 0;

  arma::uword n() const { return std::max(n_q, n_k); }              ///< N, the tokens that a position goes with
  arma::uword query(arma::uword i) const { return n() - n_q + i; }  ///< the token that query i is
  arma::uword key(arma::uword j) const { return n() - n_k + j; }    ///< the token that key j is
};

/// Where an entry of b stands: that of query i and key j is centre() + place(j) - place(i).
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

 private:
  arma::uword height_, width_ = 0;
};

/// Throws std::invalid_argument unless the position goes with n tokens; the message names the entry.
template <typename T>
void require_valid(const RelativePosition<T>& position, arma::uword n);

/// The position of the first m of n tokens. Throws std::invalid_argument for an image that would lose cells.
template <typename T>
RelativePosition<T> cut(const RelativePosition<T>& position, arma::uword n, arma::uword m);

/// b with causality written out: zeros where there is no bias, -inf for keys after their query. Grid::size() entries.
template <typename T>
arma::Col<T> log_weights(const RelativePosition<T>& position, const RelativeGrid& grid);

}  // namespace croquis
