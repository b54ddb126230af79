#include <doctest/doctest.h>
#include <croquis/random/normal_matrix.hpp>

#include "support/seed.hpp"

using namespace croquis;

TEST_CASE("normal_matrix: the normals of the key in double, column by column, rounded to float") {
  const Key key = Key(test_seed()).child("matrix");
  arma::mat expected(5, 3);
  fill_normal(key, 0, expected.n_elem, expected.memptr());
  CHECK(arma::all(arma::vectorise(normal_matrix<double>(key, 5, 3) == expected)));
  CHECK(arma::all(arma::vectorise(normal_matrix<float>(key, 5, 3) == arma::conv_to<arma::fmat>::from(expected))));
}
