#include <doctest/doctest.h>
#include <croquis/linalg/pseudo_inverse.hpp>

#include <cmath>
#include <limits>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

const arma::vec kValues = {5.0, 3.0, 3.0, 1.0, 0.5};  // rank 5, condition number 10, a double value

template <typename T>
arma::Mat<T> in(const arma::mat& a) {
  return arma::conv_to<arma::Mat<T>>::from(a);
}

// The Moore-Penrose conditions of P = A^+. The factors of A are known to c k u ||A|| with k = m + n (backward error of
// the decomposition and of the products, c = 10), and the small singular directions multiply that by the condition 10:
// in units of the norm of each product.
template <typename T>
void check_moore_penrose(const arma::Mat<T>& a_, const PseudoInverse<T>& inverse) {
  const Dense a = a_, p = inverse.apply(arma::Mat<T>(a_.n_rows, a_.n_rows, arma::fill::eye));
  const double bound = 10 * static_cast<double>(a_.n_rows + a_.n_cols) * unit<T>() * 10;
  const double norm_a = 5, norm_p = 2;
  CHECK(distance(a * p * a, a) <= bound * norm_a);
  CHECK(distance(p * a * p, p) <= bound * norm_p);
  CHECK(distance(a * p, transposed(a * p)) <= bound);
  CHECK(distance(p * a, transposed(p * a)) <= bound);
  const Dense pt = inverse.apply_transposed(arma::Mat<T>(a_.n_cols, a_.n_cols, arma::fill::eye));
  CHECK(distance(pt, transposed(p)) <= bound * norm_p);
}

template <typename T>
T usual_cutoff(arma::uword n) {
  return static_cast<T>(10 * static_cast<double>(n) * unit<T>());
}

}  // namespace

TEST_CASE_TEMPLATE("pseudo_inverse: the Moore-Penrose conditions hold for rank-deficient matrices of any shape", T,
                   float, double) {
  const Key key = Key(test_seed()).child("svd");
  const std::pair<arma::uword, arma::uword> sizes[] = {{12, 8}, {8, 12}, {9, 9}, {5, 5}};
  for (const auto& [m, n] : sizes) {
    CAPTURE_BINDING(m);
    const arma::Mat<T> a = in<T>(with_singular_values(m, n, kValues, key.child(m)));
    const PseudoInverse<T> inverse = pseudo_inverse(a, usual_cutoff<T>(12));
    CHECK(inverse.rank() == 5);
    check_moore_penrose(a, inverse);
    // The kept values are the given ones, descending: backward error 10 (m + n) u ||A||.
    CHECK(distance(inverse.values, kValues) <= 10 * static_cast<double>(m + n) * unit<T>() * 5);
    CHECK(inverse.largest == inverse.values(0));
  }
}

TEST_CASE_TEMPLATE("pseudo_inverse_psd: the Moore-Penrose conditions hold for rank-deficient matrices", T, float,
                   double) {
  const arma::Mat<T> a = in<T>(with_eigenvalues(10, kValues, Key(test_seed()).child("psd")));
  const PseudoInverse<T> inverse = pseudo_inverse_psd(a, usual_cutoff<T>(10));
  CHECK(inverse.rank() == 5);
  check_moore_penrose(a, inverse);
  CHECK(distance(inverse.values, kValues) <= 10 * 20 * unit<T>() * 5);
}

TEST_CASE_TEMPLATE("pseudo_inverse_psd: duplicate rows and columns halve the inverse between them", T, float, double) {
  // A = J J^T with J = (1,0; 1,0; 0,1): A^+ has 1/4 where the duplicates meet.
  const arma::Mat<T> a = {{1, 1, 0}, {1, 1, 0}, {0, 0, 1}};
  const PseudoInverse<T> inverse = pseudo_inverse_psd(a, usual_cutoff<T>(3));
  CHECK(inverse.rank() == 2);
  const arma::Mat<T> expected = {{0.25, 0.25, 0}, {0.25, 0.25, 0}, {0, 0, 1}};
  CHECK(distance(inverse.apply(arma::Mat<T>(3, 3, arma::fill::eye)), expected) <= 10 * 6 * unit<T>());
}

TEST_CASE_TEMPLATE("pseudo_inverse: the cut-off is relative, so that the scale of the matrix is nothing to the rank", T,
                   float, double) {
  const Key key = Key(test_seed()).child("scale");
  const arma::mat general = with_singular_values(9, 7, kValues, key), psd = with_eigenvalues(8, kValues, key);
  const double extreme = std::is_same_v<T, float> ? 1e-30 : 1e-200;
  for (const double scale : {extreme, 1e-8, 1.0, 1e8, 1 / extreme}) {
    CAPTURE(scale);
    const PseudoInverse<T> a = pseudo_inverse(in<T>(scale * general), usual_cutoff<T>(9));
    const PseudoInverse<T> b = pseudo_inverse_psd(in<T>(scale * psd), usual_cutoff<T>(8));
    CHECK(a.rank() == 5);
    CHECK(b.rank() == 5);
    const Dense projector = b.apply(in<T>(scale * psd));  // on the range: free of scale
    CHECK(distance(1 / static_cast<long double>(scale) * Dense(a.values), kValues) <= 10 * 16 * unit<T>() * 5);
    CHECK(distance(projector * projector, projector) <= 2 * 10 * 16 * unit<T>() * 10);
    CHECK(std::abs(arma::trace(in_double(projector)) - 5) <= 8 * 10 * 16 * unit<T>() * 10);
  }
}

TEST_CASE_TEMPLATE("pseudo_inverse: values at or below the cut-off times the largest are dropped", T, float, double) {
  const arma::Mat<T> a = arma::diagmat(arma::Col<T>{T(8), T(4), T(2), T(1)});
  const arma::uword ranks_svd[] = {pseudo_inverse(a, T(0)).rank(), pseudo_inverse(a, T(0.25)).rank(),
                                   pseudo_inverse(a, T(0.24)).rank(), pseudo_inverse(a, T(0.9)).rank()};
  const arma::uword ranks_psd[] = {pseudo_inverse_psd(a, T(0)).rank(), pseudo_inverse_psd(a, T(0.25)).rank(),
                                   pseudo_inverse_psd(a, T(0.24)).rank(), pseudo_inverse_psd(a, T(0.9)).rank()};
  const arma::uword expected[] = {4, 2, 3, 1};
  for (int i = 0; i < 4; ++i) {
    CHECK(ranks_svd[i] == expected[i]);
    CHECK(ranks_psd[i] == expected[i]);
  }
}

TEST_CASE_TEMPLATE("pseudo_inverse_psd: negative eigenvalues count as zero, however large", T, float, double) {
  const arma::Mat<T> a = arma::diagmat(arma::Col<T>{T(-8), T(2), T(-1e-3)});
  const PseudoInverse<T> inverse = pseudo_inverse_psd(a, T(0));
  CHECK(inverse.rank() == 1);
  CHECK(inverse.largest == doctest::Approx(2));
  CHECK(pseudo_inverse_psd(arma::Mat<T>(-a.t() * a), T(0)).rank() == 0);
}

TEST_CASE_TEMPLATE("pseudo_inverse: of the zero matrix is zero, with the sizes of the transpose", T, float, double) {
  const PseudoInverse<T> general = pseudo_inverse(arma::Mat<T>(4, 3, arma::fill::zeros), T(1e-3));
  CHECK(general.rank() == 0);
  CHECK(general.largest == 0);
  CHECK(identical(general.apply(arma::Mat<T>(4, 2, arma::fill::ones)), arma::Mat<T>(3, 2, arma::fill::zeros)));
  CHECK(
      identical(general.apply_transposed(arma::Mat<T>(3, 2, arma::fill::ones)), arma::Mat<T>(4, 2, arma::fill::zeros)));
  const PseudoInverse<T> psd = pseudo_inverse_psd(arma::Mat<T>(3, 3, arma::fill::zeros), T(0));
  CHECK(psd.rank() == 0);
  CHECK(identical(psd.apply(arma::Mat<T>(3, 1, arma::fill::ones)), arma::Mat<T>(3, 1, arma::fill::zeros)));
}

TEST_CASE_TEMPLATE("pseudo_inverse: of one number is its reciprocal, and of an empty matrix empty", T, float, double) {
  const arma::Mat<T> four(1, 1, arma::fill::value(T(4)));
  CHECK(pseudo_inverse(four, T(0)).apply(four)(0, 0) == doctest::Approx(1));
  CHECK(pseudo_inverse_psd(four, T(0)).apply(four)(0, 0) == doctest::Approx(1));
  CHECK(pseudo_inverse(arma::Mat<T>(), T(0)).rank() == 0);
  CHECK(pseudo_inverse_psd(arma::Mat<T>(), T(0)).rank() == 0);
}

TEST_CASE("pseudo_inverse: a wrong cut-off or shape is refused") {
  const arma::mat square(3, 3, arma::fill::eye), wide(2, 3, arma::fill::ones);
  CHECK(refusal([&] { pseudo_inverse_psd(wide, 0.0); }) ==
        "pseudo_inverse_psd: a square matrix, got rows = 2, cols = 3");
  CHECK(
      contains(refusal([&] { pseudo_inverse_psd(square, 1.0); }), "0 <= relative_cutoff < 1, got relative_cutoff = 1"));
  CHECK(contains(refusal([&] { pseudo_inverse(square, -0.1); }), "relative_cutoff = -0.1"));
  CHECK(contains(refusal([&] { pseudo_inverse(square, std::nan("")); }), "relative_cutoff = nan"));
}

TEST_CASE_TEMPLATE("inverse_root_psd: R^-1 R^-T is the inverse of a well-conditioned matrix, R^-1 triangular", T, float,
                   double) {
  const arma::Mat<T> a = in<T>(with_eigenvalues(5, kValues, Key(test_seed()).child("root")));
  const std::optional<arma::Mat<T>> root = inverse_root_psd(a, usual_cutoff<T>(5));
  REQUIRE(root.has_value());
  CHECK(root->is_trimatu());
  const Dense product = Dense(*root) * transposed(Dense(*root));
  // Condition 10 of a norm-5 matrix: backward error 10 d u of Cholesky and of the triangular inverse, each times 10.
  CHECK(distance(product, inverted(Dense(a))) <= 2 * 10 * 5 * 10 * unit<T>() * 2);
}

TEST_CASE_TEMPLATE("inverse_root_psd: nothing when an eigenvalue is, or may be, below the cut-off", T, float, double) {
  const Key key = Key(test_seed()).child("refused");
  const auto of = [&](const arma::vec& values) { return in<T>(with_eigenvalues(4, values, key)); };
  const T cutoff = T(1e-3);
  CHECK(inverse_root_psd(of({1.0, 1.0, 1.0, 0.5}), cutoff).has_value());
  CHECK_FALSE(inverse_root_psd(of({1.0, 1.0, 1.0, 0.9e-3}), cutoff).has_value());  // just below
  CHECK_FALSE(inverse_root_psd(of({1.0, 1.0, 1.0}), cutoff).has_value());          // singular
  CHECK_FALSE(inverse_root_psd(of({1.0, 1.0, 1.0, -1.0}), cutoff).has_value());
  CHECK_FALSE(inverse_root_psd(arma::Mat<T>(3, 3, arma::fill::zeros), cutoff).has_value());
  arma::Mat<T> broken(3, 3, arma::fill::eye);
  broken(1, 1) = std::numeric_limits<T>::quiet_NaN();
  CHECK_FALSE(inverse_root_psd(broken, cutoff).has_value());
  // Sure is sure: over many spectra with a value near the cut-off, no inverse where one is at or below it.
  for (int i = 0; i < 50; ++i) {
    const double smallest = std::pow(10, -4 + 0.04 * i);
    const bool there = inverse_root_psd(of({1.0, 0.3, 0.1, smallest}), cutoff).has_value();
    CHECK((!there || smallest > 1e-3));
  }
}
