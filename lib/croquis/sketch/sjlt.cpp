#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sketch/sjlt.hpp>
#include <numeric>
#include <utility>

namespace croquis {

SjltSketch::SjltSketch(arma::uword n, arma::uword d, arma::uword s, const Key& key) : n_(n), d_(d), s_(s), key_(key) {
  require(n >= 1 && s >= 1 && s <= d && d >> 32 == 0, "SjltSketch", "n >= 1, 1 <= s <= d < 2^32",
          {{"n", n}, {"d", d}, {"s", s}});
}

// Fisher-Yates, stopped after s columns and undone for the next row: O(s) for each row, not O(d).
template <typename T>
SparseColumns<T> SjltSketch::sparse() const {
  require_nonzeros(kName, n_, s_, sizeof(std::uint32_t) + sizeof(T));
  SparseColumns<T> c{d_, n_, std::vector<std::size_t>(n_ + 1), std::vector<std::uint32_t>(n_ * s_),
                     std::vector<T>(n_ * s_)};
  for (arma::uword i = 0; i <= n_; ++i) c.start[i] = i * s_;
  constexpr arma::uword kRowsAtOnce = 1024;
  const T magnitude = 1 / std::sqrt(static_cast<T>(s_));
  parallel_for((n_ + kRowsAtOnce - 1) / kRowsAtOnce, [&](std::size_t b) {
    const arma::uword first = b * kRowsAtOnce, count = std::min(kRowsAtOnce, n_ - first);
    std::vector<std::uint64_t> words(count * s_), taken(s_);
    fill_words(key_, first * s_, words.size(), words.data());
    std::vector<std::uint32_t> order(d_);
    std::iota(order.begin(), order.end(), 0U);
    for (arma::uword i = 0; i < count; ++i) {
      for (arma::uword t = 0; t < s_; ++t) {
        const std::uint64_t word = words[i * s_ + t];
        taken[t] = t + place_of(word, d_ - t);
        std::swap(order[t], order[taken[t]]);
        c.index[(first + i) * s_ + t] = order[t];
        c.value[(first + i) * s_ + t] = is_negative(word) ? -magnitude : magnitude;
      }
      for (arma::uword t = s_; t-- > 0;) std::swap(order[t], order[taken[t]]);
    }
  });
  return c;
}

static_assert(Sketch<SjltSketch, float> && Sketch<SjltSketch, double>);
template SparseColumns<float> SjltSketch::sparse() const;
template SparseColumns<double> SjltSketch::sparse() const;

}  // namespace croquis
