#include <doctest/doctest.h>
#include <croquis/sampling/angular_order.hpp>

#include <bit>
#include <cmath>

#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

// The Gray code of r bits by reflection: 0, 1; then that and its mirror image with the next bit set.
std::vector<std::uint32_t> gray_code(arma::uword bits) {
  std::vector<std::uint32_t> codes = {0};
  for (arma::uword r = 0; r < bits; ++r) {
    const std::size_t half = codes.size();
    for (std::size_t i = half; i-- > 0;) codes.push_back(codes[i] | 1U << r);
  }
  return codes;
}

template <typename T>
std::uint32_t code_of(const arma::Mat<T>& x, arma::uword row, const arma::Mat<T>& directions) {
  std::uint32_t code = 0;
  for (arma::uword r = 0; r < directions.n_cols; ++r) {
    long double sum = 0;
    for (arma::uword c = 0; c < x.n_cols; ++c) {
      sum += static_cast<long double>(x(row, c)) * static_cast<long double>(directions(c, r));
    }
    if (sum > 0) code |= 1U << r;
  }
  return code;
}

// Rows that may be on either side of a plane, by the rounding of a sum of p products in T, become zero rows, which are
// on none. Returns how many there are.
template <typename T>
int clear_sides(arma::Mat<T>& x, const arma::Mat<T>& directions) {
  const long double rounding = static_cast<long double>(x.n_cols + 1) * std::numeric_limits<T>::epsilon() / 2;
  int cleared = 0;
  for (arma::uword i = 0; i < x.n_rows; ++i) {
    bool clear = true;
    for (arma::uword r = 0; r < directions.n_cols; ++r) {
      long double sum = 0, size = 0;
      for (arma::uword c = 0; c < x.n_cols; ++c) {
        const long double term = static_cast<long double>(x(i, c)) * static_cast<long double>(directions(c, r));
        sum += term;
        size += std::fabs(term);
      }
      clear = clear && std::fabs(sum) > rounding * size;
    }
    if (clear) continue;
    x.row(i).zeros();
    ++cleared;
  }
  return cleared;
}

}  // namespace

TEST_CASE_TEMPLATE("angular_order: buckets by their place in the Gray code, rows in their own order within one", T,
                   float, double) {
  const Key draw_key = Key(test_seed()).child("order");
  for (const arma::uword bits : {1U, 3U, 7U}) {
    const std::vector<std::uint32_t> codes = gray_code(bits);
    arma::Mat<T> x = random_matrix<T>(200, 5, draw_key.child(bits));
    const arma::Mat<T> directions = random_matrix<T>(5, bits, draw_key.child("directions").child(bits));
    // A sum of 5 products is within 6 u of zero, relative to their sizes, with a probability below 1e-6 in float, and
    // one of a row's seven with 7e-6: more than three of 200 rows with C(200, 4) (7e-6)^4 < 1e-12.
    CHECK(clear_sides(x, directions) <= 3);
    x.row(17).zeros();
    for (const BucketOrder order : {BucketOrder::gray, BucketOrder::transposed}) {
      std::vector<std::vector<std::uint32_t>> buckets(codes.size());
      for (arma::uword i = 0; i < x.n_rows; ++i) {
        const std::uint32_t code = code_of(x, i, directions);
        const auto place = order == BucketOrder::transposed
                               ? static_cast<std::ptrdiff_t>(codes[code])
                               : std::find(codes.begin(), codes.end(), code) - codes.begin();
        buckets[static_cast<std::size_t>(place)].push_back(static_cast<std::uint32_t>(i));
      }
      std::vector<std::uint32_t> expected;
      for (const auto& bucket : buckets) expected.insert(expected.end(), bucket.begin(), bucket.end());
      CHECK(angular_order(x, directions, order) == expected);
      CHECK(bucket_places(x, directions, order)[17] == 0);
      const arma::Col<T> lengths = arma::exp2(arma::round(random_matrix<T>(200, 1, draw_key)));
      CHECK(angular_order(arma::Mat<T>(arma::diagmat(lengths) * x), directions, order) == expected);
    }
  }
}

TEST_CASE("angular_order: neighbouring buckets differ in one half-space by the rank, in several as the code sorts") {
  // One point in every bucket: the corners of a cube, and the axes as directions.
  const arma::uword bits = 5;
  arma::mat corners(1U << bits, bits);
  for (arma::uword c = 0; c < corners.n_rows; ++c) {
    for (arma::uword r = 0; r < bits; ++r) corners(c, r) = (c >> r & 1) != 0 ? 1 : -1;
  }
  const arma::mat axes(bits, bits, arma::fill::eye);
  const auto steps = [&](BucketOrder order) {
    const std::vector<std::uint32_t> sorted = angular_order(corners, axes, order);
    int most = 0;
    for (std::size_t i = 1; i < sorted.size(); ++i) most = std::max(most, std::popcount(sorted[i] ^ sorted[i - 1]));
    return most;
  };
  CHECK(steps(BucketOrder::gray) == 1);
  CHECK(steps(BucketOrder::transposed) > 1);
  // The most directions: place i of the Gray code is i xor i / 2.
  const arma::mat signs = random_matrix(50, 30, Key(test_seed()).child("signs")), thirty(30, 30, arma::fill::eye);
  const auto rank = bucket_places(signs, thirty, BucketOrder::gray),
             as_sorted = bucket_places(signs, thirty, BucketOrder::transposed);
  for (arma::uword i = 0; i < signs.n_rows; ++i) {
    const std::uint32_t code = code_of(signs, i, thirty);
    CHECK((rank[i] ^ rank[i] / 2) == code);
    CHECK(as_sorted[i] == (code ^ code / 2));
  }
  CHECK(contains(refusal([&] { angular_order(corners, arma::mat(bits, 31), BucketOrder::gray); }), "1 to 30"));
}
