#include <doctest/doctest.h>
#include <croquis/random/draws.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "support/seed.hpp"

using namespace croquis;
using Words = std::array<std::uint32_t, 4>;

namespace {

// Box-Muller in long double on the uniform numbers as T holds them: sine, then cosine.
template <typename T, typename Word>
std::array<long double, 2> box_muller(Word angle_word, Word radius_word) {
  using Signed = std::make_signed_t<Word>;
  const T step = std::ldexp(T(1), -std::numeric_limits<Word>::digits);
  const T angle = static_cast<T>(static_cast<Signed>(angle_word)) * (2 * step) + step;  // in half turns
  const T uniform = static_cast<T>(radius_word) * step + step / 2;
  const long double radius = std::sqrt(-2 * std::log(static_cast<long double>(uniform)));
  // In the quarter of the nearest multiple of pi/2, where long double is accurate for the small one of the two as well.
  const int quarter = static_cast<int>(std::nearbyint(2 * angle));
  const long double rest = std::acos(-1.0L) * (static_cast<long double>(angle) - quarter / 2.0L);
  const long double s = radius * std::sin(rest), c = radius * std::cos(rest);
  switch ((quarter + 4) % 4) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

std::vector<long double> normals_of(const Words& w, float) {
  const auto a = box_muller<float>(w[0], w[1]), b = box_muller<float>(w[2], w[3]);
  return {a[0], a[1], b[0], b[1]};
}
std::vector<long double> normals_of(const Words& w, double) {
  const auto a =
      box_muller<double>(w[0] | static_cast<std::uint64_t>(w[1]) << 32, w[2] | static_cast<std::uint64_t>(w[3]) << 32);
  return {a[0], a[1]};
}

}  // namespace

TEST_CASE_TEMPLATE("fill_normal: is Box-Muller on the words of the key's blocks, to rounding", T, float, double) {
  // Roundings: pi and the product with it, sine (1), logarithm (2, halved by the root), root, product.
  constexpr long double ulps = 8;
  const Key key = Key(test_seed()).child("box-muller");
  for (const std::uint64_t first :
       {std::uint64_t{0}, (std::uint64_t{1} << 32) - 100}) {  // and over the lower word's end
    constexpr std::uint64_t blocks = 20000;
    const std::size_t per_block = normals_of(key.block(0), T()).size();
    std::vector<T> z(blocks * per_block);
    fill_normal(key, first * per_block, z.size(), z.data());
    for (std::uint64_t k = 0; k < blocks; ++k) {
      const std::vector<long double> exact = normals_of(key.block(first + k), T());
      for (std::size_t j = 0; j < per_block; ++j) {
        const long double error = std::fabs(static_cast<long double>(z[k * per_block + j]) - exact[j]);
        REQUIRE(error <= ulps * std::numeric_limits<T>::epsilon() / 2 * std::fabs(exact[j]));
      }
    }
  }
}

TEST_CASE("fill_words: the halves of the key's blocks, wherever it begins and ends") {
  const Key key = Key(test_seed()).child("words");
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{15}, (std::uint64_t{1} << 33) - 3}) {
    for (const std::uint64_t count : {0U, 1U, 2U, 17U, 40U}) {
      std::vector<std::uint64_t> words(count + 1, 7);
      fill_words(key, first, count, words.data());
      for (std::uint64_t i = 0; i < count; ++i) {
        const Words block = key.block((first + i) / 2);
        const std::size_t half = 2 * ((first + i) % 2);
        REQUIRE(words[i] == (block[half] | static_cast<std::uint64_t>(block[half + 1]) << 32));
      }
      REQUIRE(words[count] == 7);
    }
  }
}
