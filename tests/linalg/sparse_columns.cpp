#include <doctest/doctest.h>
#include <croquis/linalg/sparse_columns.hpp>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

// Up to five entries a column, some columns empty, indices repeated; values +-1 and +-2, so that dense() is exact.
template <typename T>
SparseColumns<T> random_sparse(arma::uword rows, arma::uword cols, const Key& key) {
  SparseColumns<T> c{rows, cols, {0}, {}, {}};
  for (arma::uword j = 0; j < cols; ++j) {
    const auto words = key.block(j);
    for (std::uint32_t e = 0; e < words[0] % 6; ++e) {
      c.index.push_back(key.child(j).block(e)[0] % static_cast<std::uint32_t>(rows));
      c.value.push_back(static_cast<T>(static_cast<int>(key.child(j).block(e)[1] % 5) - 2));
    }
    c.start.push_back(c.index.size());
  }
  return c;
}

}  // namespace

TEST_CASE_TEMPLATE("SparseColumns: its four products are those of dense(), blocks of columns and rows included", T,
                   float, double) {
  const Key key = Key(test_seed()).child("products");
  const std::pair<arma::uword, arma::uword> sizes[] = {{1, 1}, {5, 40}, {40, 5}, {300, 200}};
  for (const auto& [rows, cols] : sizes) {
    const SparseColumns<T> c = random_sparse<T>(rows, cols, key.child(rows));
    const Dense dense = c.dense();
    for (const arma::uword k : {1U, 7U, 8U, 9U, 513U}) {
      CAPTURE(k);
      // Sums of at most 5 cols terms of size 2 max |m|: (terms) u (terms) 2 max |m|.
      const auto check = [&, &cols = cols](const arma::Mat<T>& product, const Dense& expected, const arma::Mat<T>& m) {
        const double terms = 5 * static_cast<double>(cols);
        CHECK(distance(product, expected) <= terms * unit<T>() * terms * 2 * static_cast<double>(arma::abs(m).max()));
      };
      const arma::Mat<T> a = random_matrix<T>(cols, k, key.child("a")), b = random_matrix<T>(rows, k, key.child("b"));
      const arma::Mat<T> at = a.t(), bt = b.t();
      check(c.times(a), dense * a, a);
      check(c.transposed_times(b), transposed(dense) * b, b);
      check(c.after(bt), Dense(bt) * dense, b);
      check(c.transposed_after(at), Dense(at) * transposed(dense), a);
    }
  }
}

TEST_CASE("SparseColumns: a repeated index adds up") {
  const SparseColumns<double> c{3, 2, {0, 3, 3}, {1, 1, 2}, {2, 5, -1}};
  const arma::mat expected = {{0, 0}, {7, 0}, {-1, 0}};
  CHECK(identical(c.dense(), expected));
  CHECK(identical(c.times(arma::mat(2, 2, arma::fill::eye)), expected));
  CHECK(identical(c.after(arma::mat(3, 3, arma::fill::eye)), expected));
  CHECK(identical(c.transposed_times(arma::mat(3, 3, arma::fill::eye)), arma::mat(expected.t())));
  CHECK(identical(c.transposed_after(arma::mat(2, 2, arma::fill::eye)), arma::mat(expected.t())));
}

TEST_CASE("SparseColumns: one without columns has empty products and zeros") {
  const SparseColumns<double> c{3, 0, {0}, {}, {}};
  CHECK(arma::size(c.dense()) == arma::size(3, 0));
  CHECK(arma::size(c.after(arma::mat(5, 3, arma::fill::ones))) == arma::size(5, 0));
  CHECK(arma::size(c.transposed_times(arma::mat(3, 4, arma::fill::ones))) == arma::size(0, 4));
  CHECK(identical(c.times(arma::mat(0, 2)), arma::mat(3, 2, arma::fill::zeros)));
  CHECK(identical(c.transposed_after(arma::mat(2, 0)), arma::mat(2, 3, arma::fill::zeros)));
}

TEST_CASE("SparseColumns: the same bits for any number of threads") {
  const Key key = Key(test_seed()).child("threads");
  const SparseColumns<double> c = random_sparse<double>(100, 2000, key);
  const arma::mat a = random_matrix(2000, 40, key.child("a")), b = random_matrix(600, 2000, key.child("b"));
  const auto products = [&](int team) {
    const ThreadCount count(team);
    return std::make_pair(c.times(a), c.transposed_after(b));
  };
  const auto one = products(1);
  for (const int team : {2, 4}) {
    CHECK(identical(products(team).first, one.first));
    CHECK(identical(products(team).second, one.second));
  }
}
