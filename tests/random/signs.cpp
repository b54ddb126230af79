#include <doctest/doctest.h>
#include <croquis/random/draws.hpp>

#include <algorithm>
#include <vector>

#include "support/seed.hpp"

using namespace croquis;

TEST_CASE("fill_words: word k is half k % 2 of block k / 2, low word first, in any window") {
  const Key key = Key(test_seed()).child("words");
  std::vector<std::uint64_t> all;
  for (std::uint64_t b = 0; b < 8; ++b) {
    const auto block = key.block(b);
    all.push_back(block[0] + (std::uint64_t{block[1]} << 32));
    all.push_back(block[2] + (std::uint64_t{block[3]} << 32));
  }
  for (std::size_t first = 0; first < 6; ++first) {
    for (std::size_t count = 0; count < 8; ++count) {
      std::vector<std::uint64_t> window(count + 1, 99);
      fill_words(key, first, count, window.data());
      REQUIRE(std::equal(window.begin(), window.end() - 1, all.begin() + static_cast<std::ptrdiff_t>(first)));
      REQUIRE(window[count] == 99);  // nothing beyond the end
    }
  }
}

TEST_CASE_TEMPLATE("fill_signs: sign k is bit k % 128 of block k / 128, in any window", T, float, double) {
  const Key key = Key(test_seed()).child("signs");
  std::vector<T> all;
  for (std::uint64_t b = 0; b < 4; ++b) {
    for (const std::uint32_t word : key.block(b)) {
      for (int bit = 0; bit < 32; ++bit) all.push_back((word & (1U << bit)) == 0 ? T(0.5) : T(-0.5));
    }
  }
  for (const std::size_t first : {0U, 1U, 31U, 32U, 127U, 128U, 129U, 200U}) {
    for (const std::size_t count : {0U, 1U, 2U, 127U, 128U, 129U, 257U}) {
      std::vector<T> window(count + 1, T(99));
      fill_signs(key, first, count, T(0.5), window.data());
      REQUIRE(std::equal(window.begin(), window.end() - 1, all.begin() + static_cast<std::ptrdiff_t>(first)));
      REQUIRE(window[count] == T(99));
    }
  }
}

TEST_CASE("place_of: floor(word bound / 2^64), each place with as many words as another, up to one") {
  const std::uint64_t most = ~std::uint64_t{0};
  for (const std::uint64_t bound : {1ULL, 2ULL, 3ULL, 5ULL, 7ULL, 1000ULL, 4294967295ULL}) {
    CHECK(place_of(0, bound) == 0);
    CHECK(place_of(most, bound) == bound - 1);
    // Place k begins at the word ceil(k 2^64 / bound): 2^64 = q bound + r.
    const std::uint64_t q = most / bound, r = most % bound + 1;
    for (const std::uint64_t k : {std::uint64_t{1}, bound / 2, bound - 1}) {
      if (k == 0 || k >= bound) continue;
      const std::uint64_t begin = k * q + (k * r + bound - 1) / bound;
      CHECK(place_of(begin, bound) == k);
      CHECK(place_of(begin - 1, bound) == k - 1);
    }
  }
}
