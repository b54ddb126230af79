#include <algorithm>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/products.hpp>
#include <croquis/random/draws.hpp>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/hamming_clusters.hpp>
#include <croquis/sampling/words.hpp>

namespace croquis {
namespace {

using Words = std::vector<std::uint64_t>;

void assign(const Words& words, const Words& centroids, std::vector<std::uint32_t>& clusters) {
  constexpr std::size_t at_once = 64;
  parallel_for(blocks_of(words.size(), at_once), at_once * centroids.size(), [&](std::size_t b) {
    const std::size_t first = b * at_once, count = std::min(at_once, words.size() - first);
    nearest_words(&words[first], count, centroids.data(), centroids.size(), &clusters[first]);
  });
}

// The word whose bit b is 1 where more than half of the words of a cluster have it, and `other` of an empty cluster.
void move(const Words& words, const std::vector<std::uint32_t>& clusters, arma::uword bits, const Words& other,
          Words& centroids) {
  Words ones(kWordBits * centroids.size(), 0), members(centroids.size(), 0);
  for (std::size_t i = 0; i < words.size(); ++i) {
    ++members[clusters[i]];
    add_bits(words[i], &ones[kWordBits * clusters[i]]);
  }
  for (std::size_t c = 0; c < centroids.size(); ++c) {
    centroids[c] = members[c] == 0 ? other[c] : 0;
    for (arma::uword b = 0; b < bits && members[c] > 0; ++b) {
      centroids[c] |= static_cast<std::uint64_t>(2 * ones[kWordBits * c + b] > members[c]) << b;
    }
  }
}

}  // namespace

template <typename T>
std::vector<std::uint64_t> plane_hashes(const arma::Mat<T>& x, const arma::Mat<T>& planes) {
  require(planes.n_rows == x.n_cols + 1 && planes.n_cols >= 1 && planes.n_cols <= 64, "plane_hashes",
          "1 to 64 planes of p + 1 numbers",
          {{"p", x.n_cols}, {"planes.rows", planes.n_rows}, {"planes.cols", planes.n_cols}});
  const arma::Mat<T> projected = product(x, arma::Mat<T>(planes.head_rows(x.n_cols)));
  Words words(x.n_rows, 0);
  for (arma::uword b = 0; b < planes.n_cols; ++b) {
    const T* column = projected.colptr(b);
    const T height = planes(x.n_cols, b);
    for (arma::uword i = 0; i < x.n_rows; ++i) words[i] |= static_cast<std::uint64_t>(column[i] > height) << b;
  }
  return words;
}

std::vector<std::uint32_t> hamming_clusters(const Words& words, arma::uword count, const Key& draw_key,
                                            const HammingOptions& options) {
  require(count >= 1 && count <= words.size(), "hamming_clusters", "1 <= clusters <= n",
          {{"clusters", count}, {"n", words.size()}});
  require(options.bits >= 1 && options.bits <= 64 && options.updates >= 0, "hamming_clusters",
          "1 to 64 bits, updates >= 0", {{"bits", options.bits}, {"updates", options.updates}});
  Words centroids;
  for (const arma::uword i : sample_without_replacement(words.size(), count, draw_key.child("centroids"))) {
    centroids.push_back(words[i]);
  }
  std::vector<std::uint32_t> clusters(words.size());
  assign(words, centroids, clusters);
  const Key empty = draw_key.child("empty");
  Words other(count);
  for (int u = 0; u < options.updates; ++u) {
    fill_words(empty.child(static_cast<std::uint64_t>(u)), 0, count, other.data());
    for (std::uint64_t& word : other) word >>= 64 - options.bits;
    move(words, clusters, options.bits, other, centroids);
    assign(words, centroids, clusters);
  }
  return clusters;
}

template std::vector<std::uint64_t> plane_hashes(const arma::Mat<float>&, const arma::Mat<float>&);
template std::vector<std::uint64_t> plane_hashes(const arma::Mat<double>&, const arma::Mat<double>&);

}  // namespace croquis
