#include <doctest/doctest.h>
#include <croquis/linalg/larger_first.hpp>

#include <cstdint>
#include <vector>

using namespace croquis;

TEST_CASE("keep_largest: the largest come first, of equals the first place, and all where there are no more") {
  const double values[] = {1, 3, 2, 3, -1, 3};
  const auto largest = [&](std::vector<std::uint32_t> places, arma::uword count) {
    keep_largest(values, count, places);
    return places;
  };
  using Places = std::vector<std::uint32_t>;
  CHECK(largest({0, 1, 2, 3, 4, 5}, 2) == Places{1, 3});
  CHECK(largest({5, 4, 3, 2, 1, 0}, 4) == Places{1, 3, 5, 2});
  CHECK(largest({4, 0, 2}, 2) == Places{2, 0});
  CHECK(largest({4, 0, 2}, 9) == Places{2, 0, 4});
  CHECK(largest({0, 1}, 0).empty());
}
