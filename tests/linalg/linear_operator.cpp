#include <doctest/doctest.h>
#include <omp.h>
#include <croquis/linalg/linear_operator.hpp>

#include <optional>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("as_operator: products with a matrix and with its transpose, for a vector and for a block", T, float,
                   double) {
  const Key key = Key(test_seed()).child("operator");
  const arma::Mat<T> a = random_matrix<T>(7, 5, key.child("a"));
  const LinearOperator<T> op = as_operator(a);
  CHECK(op.rows == 7);
  CHECK(op.cols == 5);
  CHECK(identical(op.dense(), a));
  for (const arma::uword k : {1U, 3U}) {
    const arma::Mat<T> x = random_matrix<T>(5, k, key.child("x")), y = random_matrix<T>(7, k, key.child("y"));
    // An inner product of at most 7 terms with entries below 6: 7 x 7 x 36 u.
    CHECK(distance(op.apply(x), Dense(a) * x) <= 7 * 7 * 36 * unit<T>());
    CHECK(distance(op.apply_transposed(y), transposed(a) * y) <= 7 * 7 * 36 * unit<T>());
  }
}

TEST_CASE("as_operator: a copy outlives the original") {
  std::optional<LinearOperator<double>> copy;
  {
    const LinearOperator<double> original = as_operator(arma::mat(3, 2, arma::fill::ones));
    copy = original;
  }
  CHECK(identical(copy->dense(), arma::mat(3, 2, arma::fill::ones)));
}

TEST_CASE("LinearOperator::dense: the product of a program runs on one thread of BLAS, and its setting is as it was") {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  int within = 0;
  const auto product = [&](const arma::mat& x) -> arma::mat {
    within = omp_get_max_threads();
    return 2 * x;
  };
  CHECK(identical(LinearOperator<double>{2, 2, product, product}.dense(), arma::mat{{2, 0}, {0, 2}}));
  CHECK(within == 1);
  CHECK(omp_get_max_threads() == 3);
  omp_set_num_threads(before);
}

TEST_CASE_TEMPLATE("divided_rows: the rows of a product A B^T, each divided by its number, and the transpose", T, float,
                   double) {
  const Key key = Key(test_seed()).child("divided");
  const arma::Mat<T> a = random_matrix<T>(7, 3, key.child("a")), b = random_matrix<T>(5, 3, key.child("b"));
  const arma::Col<T> f = arma::regspace<arma::Col<T>>(1, 7);
  const LinearOperator<T> op = divided_rows(as_operator(a, b), f);
  CHECK(op.rows == 7);
  CHECK(op.cols == 5);
  Dense expected = Dense(a) * arma::Mat<T>(b.t());
  for (arma::uword i = 0; i < 7; ++i) {
    for (arma::uword j = 0; j < 5; ++j) expected(i, j) /= f(i);
  }
  // Sums of 3 products of entries below 6, and a division: 4 x 3 x 36 u.
  CHECK(distance(op.dense(), expected) <= 4 * 3 * 36 * unit<T>());
  CHECK(distance(op.apply_transposed(arma::Mat<T>(7, 7, arma::fill::eye)), transposed(expected)) <=
        4 * 3 * 36 * unit<T>());
}

TEST_CASE_TEMPLATE("difference: of operators is the operator of the difference", T, float, double) {
  const Key key = Key(test_seed()).child("difference");
  const arma::Mat<T> a = random_matrix<T>(6, 4, key.child("a")), b = random_matrix<T>(6, 4, key.child("b"));
  const LinearOperator<T> op = difference(as_operator(a), as_operator(b));
  CHECK(identical(op.dense(), arma::Mat<T>(a - b)));
  CHECK(identical(op.apply_transposed(arma::Mat<T>(6, 6, arma::fill::eye)), arma::Mat<T>((a - b).t())));
  CHECK(refusal([&] { difference(as_operator(a), as_operator(arma::Mat<T>(b.t()))); }) ==
        "difference: operators of one size, got a.rows = 6, a.cols = 4, b.rows = 4, b.cols = 6");
}

TEST_CASE("deferred: makes the operator once, when it is first applied") {
  int made = 0;
  const arma::mat a = random_matrix(6, 4, Key(test_seed()).child("deferred"));
  const LinearOperator<double> op = deferred<double>(6, 4, [&] {
    ++made;
    return as_operator(a);
  });
  const LinearOperator<double> copy = op;
  CHECK(made == 0);
  CHECK(op.rows == 6);
  CHECK(op.cols == 4);
  CHECK(identical(op.dense(), a));
  CHECK(identical(copy.apply_transposed(arma::mat(6, 6, arma::fill::eye)), arma::mat(a.t())));
  CHECK(made == 1);
}
