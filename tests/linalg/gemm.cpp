#include <doctest/doctest.h>
#include <croquis/linalg/gemm.hpp>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("narrow_gemm: alpha A op(B) + beta C, with no terms and with more than are used at a time", T, float,
                   double) {
  const arma::uword m = 5, n = 7;
  for (const arma::uword terms :
       {arma::uword{0}, arma::uword{1}, kNarrowTerms<T>, kNarrowTerms<T> + 1, 2 * kNarrowTerms<T> + 5}) {
    const Key key = Key(test_seed()).child("narrow").child(terms);
    const arma::Mat<T> a = random_matrix<T>(m, terms, key.child("a")), b = random_matrix<T>(terms, n, key.child("b")),
                       given = random_matrix<T>(m, n, key.child("c"));
    // B and C are parts of larger matrices.
    const arma::Mat<T> below = arma::join_cols(b, arma::Mat<T>(3, n, arma::fill::value(T(100))));
    const arma::Mat<T> turned = arma::join_cols(arma::Mat<T>(b.t()), arma::Mat<T>(2, terms, arma::fill::value(T(100))));
    for (const T beta : {T(0), T(1), T(-2)}) {
      const Dense expected = 0.5L * (Dense(a) * Dense(b)) + static_cast<long double>(beta) * Dense(given);
      // `terms` sums of products of at most 6^2, and that many roundings.
      const double bound = 36.0 * static_cast<double>(terms * terms + terms + 10) * unit<T>();
      CAPTURE_BINDING(terms);
      for (const CBLAS_TRANSPOSE op : {CblasNoTrans, CblasTrans}) {
        const arma::Mat<T>& from = op == CblasTrans ? turned : below;
        arma::Mat<T> c = arma::join_cols(given, arma::Mat<T>(1, n, arma::fill::value(T(7))));
        narrow_gemm(op, m, n, terms, T(0.5), a.memptr(), from.memptr(), from.n_rows, beta, c.memptr(), c.n_rows);
        CHECK(distance(c.head_rows(m), expected) <= bound);
        CHECK(arma::all(c.row(m) == T(7)));
      }
    }
  }
}
