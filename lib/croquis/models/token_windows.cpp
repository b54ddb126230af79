#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/models/token_windows.hpp>
#include <utility>

namespace croquis {

std::vector<arma::uword> TokenWindows::positions() const {
  std::vector<arma::uword> all;
  all.reserve(ids.size());
  for (std::size_t w = 0; w < ends.size(); ++w) {
    for (arma::uword i = begin(w); i < ends[w]; ++i) all.push_back(i - begin(w));
  }
  return all;
}

void require_windows(const TokenWindows& tokens) {
  for (std::size_t w = 0; w < tokens.ends.size(); ++w) {
    require(tokens.begin(w) < tokens.ends[w], "TokenWindows", "ends that ascend, a token or more in every window",
            {{"window", w}, {"begin", tokens.begin(w)}, {"end", tokens.ends[w]}});
  }
  const arma::uword last = tokens.ends.empty() ? 0 : tokens.ends.back();
  require(last == tokens.ids.size(), "TokenWindows", "windows that hold all tokens",
          {{"last end", last}, {"tokens", tokens.ids.size()}});
}

TokenWindows in_windows(TokenIds ids, arma::uword length) {
  require(length >= 1, "in_windows", "length >= 1", {{"length", length}});
  TokenWindows windows{std::move(ids), {}};
  for (arma::uword end = 0; end < windows.ids.size();) {
    end = std::min<arma::uword>(end + length, windows.ids.size());
    windows.ends.push_back(end);
  }
  return windows;
}

}  // namespace croquis
