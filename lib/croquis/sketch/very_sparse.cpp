#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sketch/very_sparse.hpp>

namespace croquis {
namespace {

struct SignedRow {
  std::uint32_t row;
  bool negative;
};

// The nonzeros of a column: P(gap >= g) = P(U <= (1 - 1/q)^g). For q = 1 the logarithm is -inf and every gap 0.
std::vector<SignedRow> nonzeros_of(const Key& key, arma::uword n, double q) {
  std::vector<SignedRow> found;
  const double log_of_zero = std::log1p(-1 / q);
  arma::uword row = 0;
  for (std::uint64_t e = 0; row < n; ++e, ++row) {
    const auto w = key.block(e);
    const double u = uniform_of(w[0], w[1]);
    const double gap = std::floor(std::log(u) / log_of_zero);
    if (gap >= static_cast<double>(n - row)) break;
    row += static_cast<arma::uword>(gap);
    found.push_back({static_cast<std::uint32_t>(row), (w[2] & 1) != 0});
  }
  return found;
}

}  // namespace

VerySparseSketch::VerySparseSketch(arma::uword n, arma::uword d, double q, const Key& key) : n_(n), q_(q) {
  require(n >= 1 && n >> 32 == 0 && d >= 1, "VerySparseSketch", "1 <= n < 2^32, d >= 1", {{"n", n}, {"d", d}});
  require(q >= 1 && std::isfinite(q), "VerySparseSketch", "q >= 1 and finite", {{"q", q}});
  column_keys_ = key.children(d);
}

VerySparseSketch::VerySparseSketch(arma::uword n, arma::uword d, const Key& key)
    : VerySparseSketch(n, d, std::sqrt(static_cast<double>(n)), key) {}

template <typename T>
SparseColumns<T> VerySparseSketch::sparse() const {
  std::vector<std::vector<SignedRow>> nonzeros(cols());
  const auto mean = static_cast<std::size_t>(static_cast<double>(n_) / q_);
  parallel_for(cols(), 50 * (mean + 1), [&](std::size_t j) { nonzeros[j] = nonzeros_of(column_keys_[j], n_, q_); });
  SparseColumns<T> c{n_, cols(), {0}, {}, {}};
  const T magnitude = static_cast<T>(std::sqrt(q_ / static_cast<double>(cols())));
  for (const std::vector<SignedRow>& column : nonzeros) {
    for (const SignedRow& nonzero : column) {
      c.index.push_back(nonzero.row);
      c.value.push_back(nonzero.negative ? -magnitude : magnitude);
    }
    c.start.push_back(c.index.size());
  }
  return c;
}

static_assert(Sketch<VerySparseSketch, float> && Sketch<VerySparseSketch, double>);
template SparseColumns<float> VerySparseSketch::sparse() const;
template SparseColumns<double> VerySparseSketch::sparse() const;

}  // namespace croquis
