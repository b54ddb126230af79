#include <fmt/format.h>

#include <cmath>
#include <croquis/core/counted.hpp>
#include <croquis/core/require.hpp>
#include <croquis/toeplitz/relative_position.hpp>
#include <limits>

namespace croquis {

RelativeGrid::RelativeGrid(arma::uword n, arma::uword height) : height_(height) {
  require(n >= 1 && height >= 1 && n % height == 0, "RelativeGrid", "height >= 1 divides n >= 1",
          {{"n", n}, {"height", height}});
  width_ = n / height;
}

// The last query that has a token this far away, and that token, are the last of all such pairs.
bool RelativeGrid::is_used(arma::uword entry, TokenAlignment tokens) const {
  const arma::uword row = entry / (2 * width_ - 1), col = entry % (2 * width_ - 1), last_row = height_ - 1,
                    last_col = width_ - 1;
  const arma::uword query = std::min(last_row, 2 * last_row - row) * width_ + std::min(last_col, 2 * last_col - col),
                    key = std::min(last_row, row) * width_ + std::min(last_col, col);
  return query >= tokens.query(0) && key >= tokens.key(0);
}

template <typename T>
void require_valid(const RelativePosition<T>& position, arma::uword n) {
  const RelativeGrid grid(n, position.height);
  if (position.bias.is_empty()) return;
  const arma::uword size = position.bias.n_elem;
  const std::string needed =
      position.height == 1
          ? fmt::format("2n - 1 = {} entries for n = {}", grid.size(), counted(n, "token"))
          : fmt::format("(2h - 1)(2w - 1) = {} entries for {} x {} tokens", grid.size(), grid.height(), grid.width());
  require(size == grid.size(), "bias", needed, {{"entries", size}});
  for (arma::uword t = 0; t < size; ++t) {
    const T b = position.bias(t);
    // Logits and other biases will be added to it.
    const bool is_moderate = std::abs(b) <= std::numeric_limits<T>::max() / 64;
    require(is_moderate || !std::isfinite(b), "bias", "finite entries up to a 64th of the largest number",
            {{"entry", t}, {"value", b}});
    require(is_moderate || (b < 0 && t != grid.centre()), "bias", "finite entries or -inf, b_0 finite",
            {{"entry", t}, {"value", b}});
  }
}

template <typename T>
RelativePosition<T> truncated(const RelativePosition<T>& position, arma::uword n, arma::uword m) {
  if (m == n) return position;
  require(position.height == 1, "bias", "an image without padding",
          {{"length", m}, {"n", n}, {"height", position.height}});
  RelativePosition<T> shorter = position;
  if (!position.bias.is_empty()) shorter.bias = position.bias.subvec(n - m, n + m - 2);
  return shorter;
}

template <typename T>
bool has_mask(const RelativePosition<T>& position, TokenAlignment tokens) {
  const RelativeGrid grid(tokens.n(), position.height);
  for (arma::uword t = 0; t < position.bias.n_elem; ++t) {
    if (std::isinf(position.bias(t)) && grid.is_used(t, tokens)) return true;
  }
  return position.causal;
}

template <typename T>
RelativePosition<T> used_alone(const RelativePosition<T>& position, TokenAlignment tokens) {
  RelativePosition<T> used = position;
  const RelativeGrid grid(tokens.n(), position.height);
  for (arma::uword t = 0; t < used.bias.n_elem; ++t) {
    if (!grid.is_used(t, tokens)) used.bias(t) = -std::numeric_limits<T>::infinity();
  }
  return used;
}

template <typename T>
arma::Col<T> log_weights(const RelativePosition<T>& position, const RelativeGrid& grid) {
  arma::Col<T> b = position.bias;
  if (b.is_empty()) b.zeros(grid.size());
  if (position.causal && b.n_elem > 1) b.tail(grid.centre()).fill(-std::numeric_limits<T>::infinity());
  return b;
}

template void require_valid(const RelativePosition<float>&, arma::uword);
template void require_valid(const RelativePosition<double>&, arma::uword);
template RelativePosition<float> truncated(const RelativePosition<float>&, arma::uword, arma::uword);
template RelativePosition<double> truncated(const RelativePosition<double>&, arma::uword, arma::uword);
template bool has_mask(const RelativePosition<float>&, TokenAlignment);
template bool has_mask(const RelativePosition<double>&, TokenAlignment);
template RelativePosition<float> used_alone(const RelativePosition<float>&, TokenAlignment);
template RelativePosition<double> used_alone(const RelativePosition<double>&, TokenAlignment);
template arma::Col<float> log_weights(const RelativePosition<float>&, const RelativeGrid&);
template arma::Col<double> log_weights(const RelativePosition<double>&, const RelativeGrid&);

}  // namespace croquis
