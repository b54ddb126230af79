#include <doctest/doctest.h>
#include <croquis/core/whole_part.hpp>

#include <cstdint>
#include <initializer_list>

using namespace croquis;

TEST_CASE("whole_part: a decimal share of a count is what it is in whole numbers") {
  for (std::uint64_t thousandths = 0; thousandths <= 1000; ++thousandths) {
    for (const std::uint64_t count : {0U, 1U, 7U, 40U, 100U, 150U, 200U, 999U, 1000U, 65536U, 1000000U}) {
      CAPTURE(thousandths);
      CAPTURE(count);
      CHECK(whole_part(static_cast<double>(thousandths) / 1000, count) == thousandths * count / 1000);
    }
  }
  CHECK(whole_part(0.2899999, std::uint64_t{100}) == 28);
}
