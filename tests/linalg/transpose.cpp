#include <doctest/doctest.h>
#include <croquis/linalg/transpose.hpp>

#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("transposed: entry (i, j) goes to (j, i), in sizes on both sides of its blocks", T, float, double) {
  for (const arma::uword rows : {0U, 1U, 15U, 16U, 17U, 256U, 700U}) {
    for (const arma::uword cols : {0U, 1U, 16U, 33U, 512U, 1030U}) {
      const arma::Mat<T> m = random_matrix<T>(rows, cols, Key(test_seed()).child(rows));
      const arma::Mat<T> t = transposed(m);
      REQUIRE(arma::size(t) == arma::SizeMat(cols, rows));
      bool right = true;
      for (arma::uword i = 0; i < rows; ++i) {
        for (arma::uword j = 0; j < cols; ++j) right = right && t(j, i) == m(i, j);
      }
      CHECK(right);
    }
  }
}

TEST_CASE("transpose_block: writes its block alone") {
  const arma::mat m = random_matrix(20, 9, Key(test_seed()));
  arma::mat out(12, 30, arma::fill::value(-1));
  transpose_block(m.colptr(2) + 3, m.n_rows, 17, 5, out.colptr(4) + 1, out.n_rows);  // rows 3 ..., columns 2 ...
  for (arma::uword r = 0; r < out.n_rows; ++r) {
    for (arma::uword c = 0; c < out.n_cols; ++c) {
      const bool inside = r >= 1 && r < 6 && c >= 4 && c < 21;
      REQUIRE(out(r, c) == (inside ? m(3 + c - 4, 2 + r - 1) : -1));
    }
  }
}
