#include <algorithm>
#include <cmath>
#include <croquis/core/threads.hpp>
#include <croquis/toeplitz/paired_fft.hpp>
#include <croquis/toeplitz/phase_layout.hpp>
#include <croquis/toeplitz/phase_products.hpp>
#include <limits>

namespace croquis {
namespace {

// Of both precisions, as a tile of float has more frequencies than one of double.
constexpr arma::uword kShortest = 2 * Spectra<float>::kTile;

// An even number, as two phases are one complex transform.
arma::uword phases_of(arma::uword n, arma::uword length) {
  const arma::uword positions = length / 2, phases = (n + positions - 1) / positions;
  return phases + phases % 2;
}

// With b phases and transforms of length L, b L (log2(L)^2 + 2.5 b) was within a tenth of what the time is proportional
// to, for n = 2048 ... 65536 in both precisions. (By flops it is 5 log2 L + 4 b, but longer transforms leave caches.)
// Lengths are those that FFTW transforms fast by plans that it does not time: powers of two up to 4096 and 5 times a
// power of two. (Of 3 times a power of two, some take twice as long; and longer powers of two up to twice as long as
// their neighbours.) Beyond them, up to 32 phases were best.
arma::uword transform_length(arma::uword n) {
  constexpr arma::uword longest_power = 4096, most_phases = 32;
  if (2 * n > most_phases * longest_power) {
    arma::uword length = 10240;
    while (2 * n > most_phases * length) length *= 2;
    return length;
  }
  arma::uword best = kShortest;
  double least = std::numeric_limits<double>::infinity();
  for (arma::uword power = kShortest; power <= longest_power; power *= 2) {
    for (const arma::uword length : {power, power / 8 * 5}) {
      if (length < kShortest) continue;
      const auto b = static_cast<double>(phases_of(n, length)), l = static_cast<double>(length);
      const double log = std::log2(l), cost = b * l * (log * log + 2.5 * b);
      if (cost < least) best = length;
      least = std::min(least, cost);
    }
  }
  return best;
}

}  // namespace

template <typename Use>
void PhaseLayout::for_each_token(arma::uword n, const Use& use) const {
  for (arma::uword s = 0; s < positions; ++s) {
    arma::uword token = s * position_step;
    for (arma::uword r = 0; r < phases && token < n; ++r, token += phase_step) use(place(r, s), token);
  }
}

PhaseLayout::PhaseLayout(const RelativeGrid& grid) {
  const arma::uword height = grid.height(), width = grid.width();
  if (std::min(height, width) == 1) {
    length = transform_length(grid.n());
    phases = phases_of(grid.n(), length);
    positions = (grid.n() + phases - 1) / phases;
    phase_step = bias_phase_step = 1;
    position_step = bias_position_step = phases;
    return;
  }
  const bool by_rows = height <= width;
  phases = std::min(height, width);
  positions = std::max(height, width);
  length = std::max(kShortest, fft_friendly_length(2 * positions - 1));
  phase_step = by_rows ? width : 1;
  position_step = by_rows ? 1 : width;
  bias_phase_step = by_rows ? 2 * width - 1 : 1;
  bias_position_step = by_rows ? 1 : 2 * width - 1;
}

double PhaseLayout::flops() const {
  const auto b = static_cast<double>(phases), l = static_cast<double>(length);
  return 5 * b * l * std::log2(l) + 4 * b * b * l;
}

template <typename T>
arma::Mat<T> PhaseLayout::in_phases(const arma::Mat<T>& rows, arma::uword n) const {
  arma::Mat<T> result(places(), rows.n_cols, arma::fill::zeros);
  const arma::uword first = n - rows.n_rows;
  parallel_for(rows.n_cols, n, [&](std::size_t c) {
    for_each_token(n, [&](arma::uword place, arma::uword token) {
      if (token >= first) result(place, c) = rows(token - first, c);
    });
  });
  return result;
}

template <typename T>
arma::Mat<T> PhaseLayout::in_tokens(const arma::Mat<T>& places, arma::uword n, arma::uword rows) const {
  arma::Mat<T> result(rows, places.n_cols);
  const arma::uword first = n - rows;
  parallel_for(places.n_cols, n, [&](std::size_t c) {
    for_each_token(n, [&](arma::uword place, arma::uword token) {
      if (token >= first) result(token - first, c) = places(place, c);
    });
  });
  return result;
}

template arma::Mat<float> PhaseLayout::in_phases(const arma::Mat<float>&, arma::uword) const;
template arma::Mat<double> PhaseLayout::in_phases(const arma::Mat<double>&, arma::uword) const;
template arma::Mat<float> PhaseLayout::in_tokens(const arma::Mat<float>&, arma::uword, arma::uword) const;
template arma::Mat<double> PhaseLayout::in_tokens(const arma::Mat<double>&, arma::uword, arma::uword) const;

}  // namespace croquis
