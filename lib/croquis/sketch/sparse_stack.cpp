#include <algorithm>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sketch/sparse_stack.hpp>

namespace croquis {
namespace {
constexpr arma::uword kRowsAtOnce = 1024;
}

SparseStack::SparseStack(arma::uword n, arma::uword d, arma::uword zeta, const Key& key) : n_(n) {
  require(n >= 1 && zeta >= 1 && d >= zeta && d % zeta == 0 && d >> 32 == 0, "SparseStack",
          "n >= 1, zeta >= 1, d < 2^32 a positive multiple of zeta", {{"n", n}, {"d", d}, {"zeta", zeta}});
  width_ = d / zeta;
  blocks_.reserve(zeta);
  for (arma::uword b = 0; b < zeta; ++b) blocks_.push_back(key.child(b));
}

template <typename T>
SparseColumns<T> SparseStack::transposed() const {
  const arma::uword zeta = blocks_.size();
  SparseColumns<T> c{cols(), n_, std::vector<std::size_t>(n_ + 1), std::vector<std::uint32_t>(n_ * zeta),
                     std::vector<T>(n_ * zeta)};
  for (arma::uword i = 0; i <= n_; ++i) c.start[i] = i * zeta;
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

template <typename T>
arma::Mat<T> SparseStack::left(const arma::Mat<T>& m) const {
  require(m.n_rows == rows(), "SparseStack::left", "a matrix with n rows", {{"rows", m.n_rows}, {"n", rows()}});
  return transposed<T>().times(m);
}

template <typename T>
arma::Mat<T> SparseStack::right(const arma::Mat<T>& m) const {
  require(m.n_cols == rows(), "SparseStack::right", "a matrix with n columns", {{"cols", m.n_cols}, {"n", rows()}});
  return transposed<T>().transposed_after(m);
}

template <typename T>
arma::Mat<T> SparseStack::expand(const arma::Mat<T>& m) const {
  require(m.n_rows == cols(), "SparseStack::expand", "a matrix with d rows", {{"rows", m.n_rows}, {"d", cols()}});
  return transposed<T>().transposed_times(m);
}

template <typename T>
arma::Mat<T> SparseStack::dense() const {
  return transposed<T>().dense().t();
}

static_assert(Sketch<SparseStack, float> && Sketch<SparseStack, double>);
template arma::Mat<float> SparseStack::left(const arma::Mat<float>&) const;
template arma::Mat<double> SparseStack::left(const arma::Mat<double>&) const;
template arma::Mat<float> SparseStack::right(const arma::Mat<float>&) const;
template arma::Mat<double> SparseStack::right(const arma::Mat<double>&) const;
template arma::Mat<float> SparseStack::expand(const arma::Mat<float>&) const;
template arma::Mat<double> SparseStack::expand(const arma::Mat<double>&) const;
template arma::Mat<float> SparseStack::dense() const;
template arma::Mat<double> SparseStack::dense() const;

}  // namespace croquis
