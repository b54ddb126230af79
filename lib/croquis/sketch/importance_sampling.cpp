#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/random/cumulative.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/sketch/importance_sampling.hpp>

namespace croquis {

ImportanceSampling::ImportanceSampling(const arma::vec& weights, arma::uword d, const Key& key) : n_(weights.n_elem) {
  require(n_ >= 1 && n_ >> 32 == 0 && d >= 1, "ImportanceSampling", "1 <= number of weights < 2^32, d >= 1",
          {{"weights", n_}, {"d", d}});
  require_memory((sizeof(arma::uword) + sizeof(double)) * static_cast<double>(d), "ImportanceSampling", {{"d", d}});
  indices_.set_size(d);
  entries_.set_size(d);
  for (arma::uword i = 0; i < n_; ++i) {
    require(weights(i) >= 0 && std::isfinite(weights(i)), "ImportanceSampling", "weights finite and >= 0",
            {{"index", i}, {"weight", weights(i)}});
  }
  const double largest = weights.max();
  require(largest > 0, "ImportanceSampling", "a positive weight", {{"largest weight", largest}});

  const CumulativeWeights cumulative(weights / largest);  // divided by the largest to avoid overflow
  for (arma::uword j = 0; j < d; ++j) {
    indices_(j) = cumulative.index_of(uniform_at(key.child(j), 0));
    entries_(j) = std::sqrt(cumulative.total() / (weights(indices_(j)) / largest) / static_cast<double>(d));
  }
}

template <typename T>
SparseColumns<T> ImportanceSampling::sparse() const {
  SparseColumns<T> c{n_, cols(), std::vector<std::size_t>(cols() + 1), std::vector<std::uint32_t>(cols()),
                     std::vector<T>(cols())};
  for (arma::uword j = 0; j < cols(); ++j) {
    c.start[j + 1] = j + 1;
    c.index[j] = static_cast<std::uint32_t>(indices_(j));
    c.value[j] = static_cast<T>(entries_(j));
  }
  return c;
}

static_assert(Sketch<ImportanceSampling, float> && Sketch<ImportanceSampling, double>);
template SparseColumns<float> ImportanceSampling::sparse() const;
template SparseColumns<double> ImportanceSampling::sparse() const;

}  // namespace croquis
