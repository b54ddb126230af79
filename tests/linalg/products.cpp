#include <doctest/doctest.h>
#include <croquis/linalg/products.hpp>

#include <array>
#include <cmath>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

// m, n, inner: parts by rows, by columns, by groups of terms, in one call, single rows, columns and terms, and few
// columns of few terms.
constexpr std::array<arma::uword, 3> kSizes[] = {{1, 1, 1},    {700, 30, 20}, {30, 700, 20},  {5, 7, 4000},
                                                 {64, 64, 64}, {130, 129, 3}, {1, 1100, 600}, {600, 1, 1100},
                                                 {513, 65, 1}, {65, 2, 1025}, {200, 90, 300}, {20, 300, 129},
                                                 {700, 5, 20}, {1100, 1, 64}, {130, 15, 1}};

double largest_term(const Dense& a, const Dense& b) {
  return static_cast<double>(largest_entry_of(a) * largest_entry_of(b));
}

}  // namespace

TEST_CASE_TEMPLATE("product, product_tn, product_nt: every shape agrees with the loops of the definition", T, float,
                   double) {
  for (const auto& [m, n, inner] : kSizes) {
    const Key key = Key(test_seed()).child("product").child(m * 10000 + n);
    const arma::Mat<T> a = random_matrix<T>(m, inner, key.child("a")), b = random_matrix<T>(inner, n, key);
    const Dense expected = Dense(a) * Dense(b);
    CAPTURE_BINDING(m);
    CAPTURE_BINDING(n);
    CAPTURE_BINDING(inner);
    // `inner` terms with a rounding each, and one for every sum.
    const double bound = largest_term(a, b) * static_cast<double>(inner * inner + inner) * unit<T>();
    CHECK(distance(product(a, b), expected) <= bound);
    CHECK(distance(product_tn<T>(a.t(), b), expected) <= bound);
    CHECK(distance(product_nt<T>(a, b.t()), expected) <= bound);
    arma::Mat<T> corner(std::min<arma::uword>(3, m), std::min<arma::uword>(2, n));
    product_nt_block<T>(T(0.5), a, m - corner.n_rows, b.t(), n - corner.n_cols, corner);
    const arma::mat whole = in_double(expected);
    CHECK(distance(corner, Dense(arma::mat(0.5 * whole.submat(m - corner.n_rows, n - corner.n_cols, m - 1, n - 1)))) <=
          bound);
  }
}

TEST_CASE_TEMPLATE("product_symmetric: half of the product, mirrored, for polynomials of one symmetric matrix", T,
                   float, double) {
  for (const arma::uword d : {1, 40, 64, 65, 200, 300}) {
    CAPTURE(d);
    const arma::Mat<T> z = random_matrix<T>(d, d, Key(test_seed()).child("symmetric").child(d));
    const arma::Mat<T> a = (z + z.t()) / (2 * std::sqrt(static_cast<T>(d)));
    arma::Mat<T> b = -a * a;
    b.diag() += T(3);
    const arma::Mat<T> c = product_symmetric(a, b, T(0.25));
    // d terms a product; that of B, |A|^2, makes A B - B A of twice as much, times |A|. Row sums bound the entries.
    const double r = largest_row_sum(Dense(a));
    const double bound = (static_cast<double>(d) + 2) * unit<T>() * (r * (r * r + 3) + 2 * r * r * r) / 4;
    CHECK(distance(c, 0.25L * (Dense(a) * Dense(b))) <= bound);
    // Mirrored outside of the blocks of 64 on the diagonal, to the last bit.
    for (arma::uword j = 64; j < d; ++j) {
      for (arma::uword i = 0; i < j / 64 * 64; ++i) REQUIRE(c(i, j) == c(j, i));
    }
  }
  CHECK(contains(refusal([] { product_symmetric(arma::mat(2, 2), arma::mat(3, 3)); }),
                 "product_symmetric: two square matrices of one size, got a.rows = 2, a.cols = 2, b.rows = 3"));
}

TEST_CASE_TEMPLATE("add_product, add_product_tn: add the product with some columns of A, or rows", T, float, double) {
  constexpr arma::uword all = 400, first = 70;
  for (const auto& [m, n, inner] :
       {std::array<arma::uword, 3>{1, 1, 1}, {90, 40, 300}, {200, 17, 330}, {5, 200, 33}, {150, 3, 64}}) {
    CAPTURE_BINDING(m);
    const Key key = Key(test_seed()).child("add").child(m);
    const arma::Mat<T> a = random_matrix<T>(m, all, key.child("a")), b = random_matrix<T>(inner, n, key),
                       start = random_matrix<T>(m, n, key.child("c"));
    const arma::Mat<T> used = a.cols(first, first + inner - 1);
    const Dense expected = Dense(start) + Dense(used) * Dense(b);
    const double largest = std::max(largest_term(used, b), static_cast<double>(largest_entry_of(start)));
    const double bound = largest * static_cast<double>((inner + 1) * (inner + 2)) * unit<T>();
    arma::Mat<T> c = start;
    add_product(a, first, b, c);
    CHECK(distance(c, expected) <= bound);
    c = start;
    add_product_tn<T>(a.t(), first, b, c);
    CHECK(distance(c, expected) <= bound);
  }
  CHECK(contains(
      refusal([] {
        arma::Mat<T> c(2, 2);
        add_product(arma::Mat<T>(2, 5), 3, arma::Mat<T>(3, 2), c);
      }),
      "add_product: as many terms in A as rows in B, and a C of the product's size, got terms = 5, first = 3"));
}

TEST_CASE("product: the same bits for 1, 2 and 3 threads") {
  for (const auto& [m, n, inner] : kSizes) {
    const Key key = Key(test_seed()).child("threads").child(m);
    const arma::mat a = random_matrix(m, inner, key.child("a")), b = random_matrix(inner, n, key);
    const auto with = [&](int threads) {
      const ThreadCount count(threads);
      return product(a, b);
    };
    CHECK(identical(with(1), with(2)));
    CHECK(identical(with(1), with(3)));
  }
  const arma::mat a = random_matrix(300, 300, Key(test_seed()).child("symmetric threads"));
  const auto with = [&](int threads) {
    const ThreadCount count(threads);
    return product_symmetric(a, a);
  };
  CHECK(identical(with(1), with(2)));
  CHECK(identical(with(1), with(3)));
}

TEST_CASE("product: empty sizes give zeros, inner sizes that differ are refused") {
  CHECK(arma::size(product(arma::mat(0, 3), arma::mat(3, 2))) == arma::SizeMat(0, 2));
  const arma::mat zero = product(arma::mat(2, 0), arma::mat(0, 3));
  CHECK(arma::size(zero) == arma::SizeMat(2, 3));
  CHECK(arma::all(arma::vectorise(zero) == 0));
  CHECK(refusal([] { product(arma::mat(2, 3), arma::mat(2, 3)); }) ==
        "product: one inner size, got left = 3, right = 2");
  CHECK(refusal([] {
          arma::mat block(2, 2);
          product_nt_block(1.0, arma::mat(3, 4), 2, arma::mat(2, 4), 0, block);
        }) ==
        "product_nt_block: rows of A and B of one width, as many as the block has, got a.rows = 3, i0 = 2, "
        "block.rows = 2, b.rows = 2, j0 = 0, block.cols = 2");
  for (const arma::uword first : {~arma::uword{0}, ~arma::uword{0} - 1}) {  // first + 2 is 0 and 1
    arma::mat block(2, 2, arma::fill::zeros);
    const arma::mat a(4, 4, arma::fill::ones), b(2, 2, arma::fill::ones);
    CHECK(contains(refusal([&] { product_nt_block(1.0, a, first, a, 0, block); }), "as many as the block has"));
    CHECK(contains(refusal([&] { product_nt_block(1.0, a, 0, a, first, block); }), "as many as the block has"));
    arma::mat c(4, 2, arma::fill::zeros);
    CHECK(contains(refusal([&] { add_product(a, first, b, c); }), "as many terms in A"));
  }
}
