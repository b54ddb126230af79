#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sketch/sparse_stack.hpp>

namespace croquis {

SparseStack::SparseStack(arma::uword n, arma::uword d, arma::uword zeta, const Key& key) : n_(n) {
  require(n >= 1 && zeta >= 1 && d >= zeta && d % zeta == 0 && d >> 32 == 0, "SparseStack",
          "n >= 1, zeta >= 1, d < 2^32 a positive multiple of zeta", {{"n", n}, {"d", d}, {"zeta", zeta}});
  width_ = d / zeta;
  blocks_ = key.children(zeta);
}

template <typename T>
SparseColumns<T> SparseStack::sparse() const {
  const arma::uword zeta = blocks_.size();
  require_nonzeros(kName, n_, zeta, sizeof(std::uint32_t) + sizeof(T));
  SparseColumns<T> c{cols(), n_, std::vector<std::size_t>(n_ + 1), std::vector<std::uint32_t>(n_ * zeta),
                     std::vector<T>(n_ * zeta)};
  for (arma::uword i = 0; i <= n_; ++i) c.start[i] = i * zeta;
  constexpr arma::uword kRowsAtOnce = 1024;
  const T magnitude = 1 / std::sqrt(static_cast<T>(zeta));
  parallel_for((n_ + kRowsAtOnce - 1) / kRowsAtOnce, [&](std::size_t part) {
    const arma::uword first = part * kRowsAtOnce, count = std::min(kRowsAtOnce, n_ - first);
    std::vector<std::uint64_t> words(count);
    for (arma::uword b = 0; b < zeta; ++b) {
      fill_words(blocks_[b], first, count, words.data());
      for (arma::uword i = 0; i < count; ++i) {
        const std::size_t e = (first + i) * zeta + b;
        c.index[e] = static_cast<std::uint32_t>(b * width_ + place_of(words[i], width_));
        c.value[e] = is_negative(words[i]) ? -magnitude : magnitude;
      }
    }
  });
  return c;
}

static_assert(Sketch<SparseStack, float> && Sketch<SparseStack, double>);
template SparseColumns<float> SparseStack::sparse() const;
template SparseColumns<double> SparseStack::sparse() const;

}  // namespace croquis
