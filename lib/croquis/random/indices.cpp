#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/random/cumulative.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <limits>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace croquis {
namespace {

using UniformIndex = boost::random::uniform_int_distribution<arma::uword>;

arma::uvec room_for(arma::uword d, std::string_view where) {
  require_memory(sizeof(arma::uword) * static_cast<double>(d), where, {{"d", d}});
  return arma::uvec(d);
}

// The beginning of a Fisher-Yates shuffle of 0 ... n-1, d of it. at(i) is the entry at place i, put(i, x) replaces it.
template <typename At, typename Put>
arma::uvec shuffled(arma::uword n, arma::uword d, const Key& key, const At& at, const Put& put) {
  arma::uvec sample(d);
  Engine engine = key.engine();
  for (arma::uword j = 0; j < d; ++j) {
    const arma::uword k = UniformIndex(j, n - 1)(engine);
    sample(j) = at(k);
    put(k, at(j));
  }
  return sample;
}

}  // namespace

arma::uvec sample_with_replacement(arma::uword n, arma::uword d, const Key& key) {
  require(n >= 1, "sample_with_replacement", "n >= 1", {{"n", n}});
  arma::uvec indices = room_for(d, "sample_with_replacement");
  UniformIndex uniform(0, n - 1);
  for (arma::uword j = 0; j < d; ++j) {
    Engine engine = key.child(j).engine();
    indices(j) = uniform(engine);
  }
  return indices;
}

arma::uvec sample_without_replacement(arma::uword n, arma::uword d, const Key& key) {
  require(d <= n, "sample_without_replacement", "d <= n", {{"d", d}, {"n", n}});
  if (n / 8 <= d) {
    require_memory(sizeof(arma::uword) * static_cast<double>(n), "sample_without_replacement", {{"n", n}});
    std::vector<arma::uword> entries(n);
    std::iota(entries.begin(), entries.end(), arma::uword{0});
    return shuffled(
        n, d, key, [&](arma::uword i) { return entries[i]; }, [&](arma::uword i, arma::uword x) { entries[i] = x; });
  }
  // n is much larger than d: only the entries that were replaced are stored.
  std::unordered_map<arma::uword, arma::uword> replaced;
  const auto at = [&](arma::uword i) {
    const auto found = replaced.find(i);
    return found == replaced.end() ? i : found->second;
  };
  return shuffled(n, d, key, at, [&](arma::uword i, arma::uword x) { replaced[i] = x; });
}

template <typename T>
arma::uvec sample_weighted(const arma::Col<T>& weights, arma::uword d, const Key& key) {
  require(!weights.is_empty() && weights.is_finite() && weights.min() >= 0 && weights.max() > 0, "sample_weighted",
          "weights finite and >= 0, one of them positive", {{"weights", weights.n_elem}});
  const CumulativeWeights cumulative(arma::conv_to<arma::vec>::from(weights) / static_cast<double>(weights.max()));
  arma::uvec indices = room_for(d, "sample_weighted");
  for (arma::uword j = 0; j < d; ++j) indices(j) = cumulative.index_of(uniform_at(key, j));
  return indices;
}

template <typename T>
arma::uvec sample_weighted_without_replacement(const arma::Col<T>& weights, arma::uword d, const Key& key) {
  const arma::uword n = weights.n_elem;
  require(d <= n, "sample_weighted_without_replacement", "d <= number of weights", {{"d", d}, {"weights", n}});
  for (arma::uword i = 0; i < n; ++i) {
    if (weights[i] >= 0 && std::isfinite(weights[i])) continue;
    require(false, "sample_weighted_without_replacement", "weights finite and >= 0",
            {{"index", i}, {"weight", static_cast<double>(weights[i])}});
  }
  // The logarithm of the arrival time. Ties between weights of 0 are resolved by a clock of their own, others by index.
  using Arrival = std::tuple<double, double, arma::uword>;
  std::vector<Arrival> arrivals(n);
  constexpr arma::uword block = 512, work = 16000;  // three vectorised logarithms and the key's words, in flops
  parallel_for(blocks_of(n, block), work, [&](std::size_t b) {
    const arma::uword first = b * block, count = std::min(block, n - first);
    double clock[block], size[block];
    for (arma::uword i = 0; i < count; ++i) {
      clock[i] = uniform_at(key, first + i);  // in (0, 1]
      size[i] = static_cast<double>(weights[first + i]);
    }
    logarithm(clock, count);
    for (arma::uword i = 0; i < count; ++i) clock[i] = std::abs(clock[i]);
    logarithm(clock, count);
    logarithm(size, count);
    for (arma::uword i = 0; i < count; ++i) {
      const double never = std::numeric_limits<double>::infinity();
      arrivals[first + i] = {weights[first + i] > 0 ? clock[i] - size[i] : never, clock[i], first + i};
    }
  });
  const auto last = arrivals.begin() + static_cast<std::ptrdiff_t>(d);
  std::nth_element(arrivals.begin(), last, arrivals.end());
  std::sort(arrivals.begin(), last);
  arma::uvec indices(d);
  std::transform(arrivals.begin(), last, indices.begin(), [](const Arrival& arrival) { return std::get<2>(arrival); });
  return indices;
}

template arma::uvec sample_weighted(const arma::Col<float>&, arma::uword, const Key&);
template arma::uvec sample_weighted(const arma::Col<double>&, arma::uword, const Key&);
template arma::uvec sample_weighted_without_replacement(const arma::Col<float>&, arma::uword, const Key&);
template arma::uvec sample_weighted_without_replacement(const arma::Col<double>&, arma::uword, const Key&);

}  // namespace croquis
