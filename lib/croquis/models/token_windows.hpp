// Token ids, and how they are divided into the windows that a model reads.
#pragma once

#include <armadillo>
#include <cstdint>
#include <vector>

namespace croquis {

using TokenIds = std::vector<std::uint32_t>;

/// Tokens in consecutive windows. A model treats each window like a text of its own: positions start again, and no
/// token attends to a token of another window.
struct TokenWindows {
  TokenIds ids;
  std::vector<arma::uword>
      ends;  ///< the token after the last one of each window; strictly ascending, the last is ids.size()

  arma::uword begin(std::size_t window) const { return window == 0 ? 0 : ends[window - 1]; }
  /// The position of each token, from 0 at the beginning of its window.
  std::vector<arma::uword> positions() const;
};

/// Throws std::invalid_argument unless no window is empty and the last one ends with the last token.
void require_windows(const TokenWindows& tokens);

/// Divides tokens into windows of `length` tokens; the last may be shorter. Throws std::invalid_argument for length =
/// 0.
TokenWindows in_windows(TokenIds ids, arma::uword length);

}  // namespace croquis
