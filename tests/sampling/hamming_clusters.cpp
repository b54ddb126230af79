#include <doctest/doctest.h>
#include <croquis/random/indices.hpp>
#include <croquis/sampling/hamming_clusters.hpp>

#include <bit>

#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

using Words = std::vector<std::uint64_t>;

Words random_words(arma::uword n, arma::uword bits, const Key& draw_key) {
  Words words(n);
  fill_words(draw_key, 0, n, words.data());
  for (std::uint64_t& word : words) word >>= 64 - bits;
  return words;
}

// K-means as it is written on paper, bit by bit.
struct Reference {
  Words centroids;
  std::vector<std::uint32_t> clusters;
  std::vector<int> cost;  // the sum of the distances, after every step
  bool had_empty = false;

  Reference(const Words& words, arma::uword count, const Key& draw_key, const HammingOptions& options) {
    for (const arma::uword i : sample_without_replacement(words.size(), count, draw_key.child("centroids"))) {
      centroids.push_back(words[i]);
    }
    assign(words);
    for (int u = 0; u < options.updates; ++u) {
      Words other(count);
      fill_words(draw_key.child("empty").child(static_cast<std::uint64_t>(u)), 0, count, other.data());
      for (std::uint32_t c = 0; c < count; ++c) {
        int members = 0;
        for (const std::uint32_t mine : clusters) members += mine == c ? 1 : 0;
        if (members == 0) {
          had_empty = true;
          centroids[c] = other[c] >> (64 - options.bits);
          continue;
        }
        centroids[c] = 0;
        for (arma::uword b = 0; b < options.bits; ++b) {
          int ones = 0;
          for (std::size_t i = 0; i < words.size(); ++i) {
            ones += clusters[i] == c && (words[i] & std::uint64_t{1} << b) != 0 ? 1 : 0;
          }
          if (2 * ones > members) centroids[c] |= std::uint64_t{1} << b;
        }
      }
      assign(words);
    }
  }

  void assign(const Words& words) {
    clusters.assign(words.size(), 0);
    int sum = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto distance = [&](std::size_t c) { return std::popcount(words[i] ^ centroids[c]); };
      for (std::uint32_t c = 1; c < centroids.size(); ++c) {
        if (distance(c) < distance(clusters[i])) clusters[i] = c;
      }
      sum += distance(clusters[i]);
    }
    cost.push_back(sum);
  }
};

}  // namespace

TEST_CASE("hamming_clusters: K-means by majorities, the first of equally near centroids, random words for empty ones") {
  bool empty = false;
  for (const arma::uword bits : {3U, 32U, 63U, 64U}) {
    // No multiple of what a vector has.
    const Words words = random_words(121, bits, Key(test_seed()).child("words").child(bits));
    for (const arma::uword count : {1U, 7U, 60U, 121U}) {
      for (const int updates : {0, 1, 10}) {
        const HammingOptions options{.updates = updates, .bits = bits};
        const Reference reference(words, count, Key(test_seed()).child(count), options);
        CHECK(hamming_clusters(words, count, Key(test_seed()).child(count), options) == reference.clusters);
        empty = empty || reference.had_empty;
        if (reference.had_empty) continue;
        for (std::size_t t = 1; t < reference.cost.size(); ++t) CHECK(reference.cost[t] <= reference.cost[t - 1]);
      }
    }
  }
  CHECK(empty);  // words of three bits have no more than eight clusters
}

TEST_CASE("hamming_clusters: words that are far apart are separated, too many clusters are refused") {
  // Two kinds of words, 60 of each, at distance 60 of each other and 1 of their kind. Both are among the 32 words that
  // the centroids begin at, but with a probability below 2 (1/2)^32 = 5e-10.
  const std::uint64_t kind = (std::uint64_t{1} << 60) - 1;
  Words words;
  for (std::uint64_t i = 0; i < 120; ++i) words.push_back((i % 2 == 0 ? kind : 0) ^ (std::uint64_t{1} << (i % 60)));
  const auto clusters = hamming_clusters(words, 32, Key(test_seed()).child("apart"));
  for (std::size_t i = 0; i < 120; ++i) {
    for (std::size_t j = 0; j < 120; ++j) {
      if (i % 2 != j % 2) CHECK(clusters[i] != clusters[j]);
    }
  }
  CHECK(contains(refusal([&] { hamming_clusters(words, 121, Key(1)); }), "got clusters = 121, n = 120"));
  CHECK(contains(refusal([&] { hamming_clusters(words, 0, Key(1)); }), "got clusters = 0"));
}

TEST_CASE_TEMPLATE("plane_hashes: a bit says on which side of its plane a point is", T, float, double) {
  const arma::Mat<T> x = random_matrix<T>(50, 4, Key(2)), planes = random_matrix<T>(5, 64, Key(3));
  const Words words = plane_hashes(x, planes);
  for (arma::uword i = 0; i < 50; ++i) {
    for (arma::uword b = 0; b < 64; ++b) {
      long double height = -static_cast<long double>(planes(4, b));
      for (arma::uword c = 0; c < 4; ++c) {
        height += static_cast<long double>(x(i, c)) * static_cast<long double>(planes(c, b));
      }
      CHECK(((words[i] >> b & 1) != 0) == (height > 0));
    }
  }
  CHECK(contains(refusal([&] { plane_hashes(x, arma::Mat<T>(4, 8)); }), "planes of p + 1"));
}
