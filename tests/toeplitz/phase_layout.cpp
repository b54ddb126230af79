#include <doctest/doctest.h>
#include <croquis/toeplitz/phase_layout.hpp>

#include <cmath>
#include <map>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

TEST_CASE("PhaseLayout: every pair of tokens has its bias, the transforms are long enough, and the work is n log n") {
  for (const auto& [n, height] : {std::pair<arma::uword, arma::uword>{1, 1},
                                  {2, 1},
                                  {31, 1},
                                  {32, 1},
                                  {33, 1},
                                  {127, 1},
                                  {300, 1},
                                  {12, 3},
                                  {12, 4},
                                  {15, 5},
                                  {9, 9},
                                  {70, 10},
                                  {40, 40},
                                  {300, 300},
                                  {100, 2}}) {
    CAPTURE_BINDING(n);
    CAPTURE_BINDING(height);
    const RelativeGrid grid(n, height);
    const PhaseLayout layout(grid);
    REQUIRE(layout.length >= 2 * layout.positions - 1);
    // Which bias belongs to a difference of phases and one of positions, as the kernel has it.
    std::map<std::pair<arma::uword, arma::uword>, arma::uword> entries;
    layout.for_each_bias(grid, [&](arma::uword kernel, arma::uword place, arma::uword entry) {
      REQUIRE(place < layout.length);
      REQUIRE(entries.emplace(std::pair{kernel, place}, entry).second);
    });
    // Where a token is, by in_phases itself.
    arma::mat tokens(n, 1);
    for (arma::uword i = 0; i < n; ++i) tokens(i, 0) = static_cast<double>(i) + 1;
    const arma::mat places = layout.in_phases(tokens, n);
    std::vector<std::pair<arma::uword, arma::uword>> where(n);
    arma::uword found = 0;
    for (arma::uword r = 0; r < layout.phases; ++r) {
      for (arma::uword s = 0; s < layout.positions; ++s) {
        const double token = places(layout.place(r, s), 0);
        if (token == 0) continue;
        where[static_cast<arma::uword>(token) - 1] = {r, s};
        ++found;
      }
    }
    REQUIRE(found == n);
    bool right = true;
    for (arma::uword i = 0; i < n; ++i) {
      for (arma::uword j = 0; j < n; ++j) {
        const auto [r, s] = where[i];
        const auto [r2, s2] = where[j];
        const auto bias = entries.find({r2 + layout.phases - 1 - r, (s2 + layout.length - s) % layout.length});
        right = right && bias != entries.end() && bias->second == grid.centre() + grid.place(j) - grid.place(i);
      }
    }
    CHECK(right);
  }
  for (arma::uword n = 64; n <= 3000000; n += 1 + n / 37) {
    const PhaseLayout layout{RelativeGrid(n, 1)};
    const auto tokens = static_cast<double>(n);
    REQUIRE(layout.phases <= 34);
    REQUIRE(layout.flops() <= 408 * tokens + 15 * tokens * std::log2(tokens));
  }
  // Two transforms of 5 L log2 L for two phases at a time; at L / 2 frequencies a complex b x b matrix, 8 flops a term.
  const PhaseLayout image{RelativeGrid(16 * 50, 16)};
  const auto length = static_cast<double>(image.length);
  CHECK(image.flops() == doctest::Approx(16 * 5 * length * std::log2(length) + length / 2 * 16 * 16 * 8));
}

TEST_CASE_TEMPLATE("PhaseLayout: in_tokens undoes in_phases, also of the last tokens alone; other places are zero", T,
                   float, double) {
  for (const auto& [n, height] : {std::pair<arma::uword, arma::uword>{45, 1}, {45, 5}, {45, 9}, {700, 1}}) {
    CAPTURE_BINDING(n);
    CAPTURE_BINDING(height);
    const PhaseLayout layout{RelativeGrid(n, height)};
    for (const arma::uword rows : {n, n - 7}) {
      const arma::Mat<T> x = random_matrix<T>(rows, 3, Key(test_seed()).child(rows)), y = layout.in_phases(x, n);
      CHECK(y.n_rows == layout.places());
      CHECK(identical(layout.in_tokens(y, n, rows), x));
      CHECK(arma::accu(y != 0) == arma::accu(x != 0));
    }
  }
}
