#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sketch/accumulative.hpp>

namespace croquis {

AccumulativeSketch::AccumulativeSketch(arma::uword n, arma::uword d, arma::uword m, const Key& key)
    : n_(n), d_(d), m_(m), indices_(key.child("indices")), signs_(key.child("signs")) {
  require(n >= 1 && n >> 32 == 0 && d >= 1 && m >= 1, "AccumulativeSketch", "1 <= n < 2^32, d >= 1, m >= 1",
          {{"n", n}, {"d", d}, {"m", m}});
}

template <typename T>
SparseColumns<T> AccumulativeSketch::sparse() const {
  require_nonzeros(kName, d_, m_, sizeof(std::uint32_t) + sizeof(T));
  SparseColumns<T> c{n_, d_, std::vector<std::size_t>(d_ + 1), std::vector<std::uint32_t>(d_ * m_),
                     std::vector<T>(d_ * m_)};
  for (arma::uword j = 0; j <= d_; ++j) c.start[j] = j * m_;
  const double scale = std::sqrt(static_cast<double>(n_) / (static_cast<double>(d_) * static_cast<double>(m_)));
  parallel_for(m_, 100 * d_, [&](std::size_t a) {
    const arma::uvec drawn = sample_with_replacement(n_, d_, indices_.child(a));
    std::vector<T> signed_scale(d_);
    fill_signs(signs_.child(a), 0, d_, static_cast<T>(scale), signed_scale.data());
    for (arma::uword j = 0; j < d_; ++j) {
      c.index[j * m_ + a] = static_cast<std::uint32_t>(drawn(j));
      c.value[j * m_ + a] = signed_scale[j];
    }
  });
  return c;
}

static_assert(Sketch<AccumulativeSketch, float> && Sketch<AccumulativeSketch, double>);
template SparseColumns<float> AccumulativeSketch::sparse() const;
template SparseColumns<double> AccumulativeSketch::sparse() const;

}  // namespace croquis
