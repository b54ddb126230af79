#include <doctest/doctest.h>
#include <croquis/linalg/norms.hpp>

#include <cmath>
#include <limits>
#include <utility>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

// Relative error of the root of the top eigenvalue of a Gram matrix: its entries are sums of max(m, n) products, off by
// max(m, n) u in Frobenius norm times ||A||_F^2 <= min(m, n) ||A||^2; the eigenvalue solver adds 10 min(m, n) u; the
// root halves both.
template <typename T>
double spectral_error(const arma::Mat<T>& a) {
  const auto k = static_cast<double>(std::min(a.n_rows, a.n_cols)),
             l = static_cast<double>(std::max(a.n_rows, a.n_cols));
  return (l * k / 2 + 5 * k + 4) * unit<T>();
}

// By another way: LAPACK's singular values, in double, good to 10 (m + n) u.
template <typename T>
double by_singular_values(const arma::Mat<T>& a) {
  return arma::svd(arma::conv_to<arma::mat>::from(a)).eval().max();
}

}  // namespace

TEST_CASE_TEMPLATE("spectral_norm: is the largest singular value, for matrices of any shape", T, float, double) {
  const Key key = Key(test_seed()).child("shapes");
  const std::pair<arma::uword, arma::uword> sizes[] = {{1, 1}, {1, 7}, {7, 1}, {20, 30}, {30, 20}, {25, 25}};
  for (const auto& [m, n] : sizes) {
    CAPTURE_BINDING(m);
    CAPTURE_BINDING(n);
    const arma::Mat<T> a = random_matrix<T>(m, n, key.child(m).child(n));
    const double exact = by_singular_values(a);
    const double bound = spectral_error(a) + 10 * static_cast<double>(m + n) * unit<double>();
    CHECK(std::abs(static_cast<double>(spectral_norm(a)) - exact) <= bound * exact);
  }
}

TEST_CASE("spectral_norm_flops: those of the smaller Gram matrix and of making it tridiagonal, counted in loops") {
  for (const auto& [m, n] : {std::pair<arma::uword, arma::uword>{400, 300}, {300, 400}, {300, 300}, {2000, 300}}) {
    CAPTURE_BINDING(m);
    CAPTURE_BINDING(n);
    const arma::uword k = std::min(m, n), l = std::max(m, n);
    double count = 0;
    for (arma::uword i = 0; i < k; ++i) {
      for (arma::uword j = i; j < k; ++j) count += static_cast<double>(2 * l);  // a product of two rows
    }
    for (arma::uword rest = k; rest-- > 1;) {
      // Each reflection: the symmetric rest times a vector, and an update of rank 2 of one of its triangles.
      const auto r = static_cast<double>(rest);
      count += 2 * r * r + 4 * r * (r + 1) / 2;
    }
    CHECK(spectral_norm_flops(double(m), double(n)) == doctest::Approx(count).epsilon(0.01));
  }
}

TEST_CASE("spectral_norm: is the largest of the singular values a matrix was made with") {
  const arma::vec spectra[] = {{1.0, 1.0, 1.0}, {1.0, 1 - 1e-9, 0.5}, {1.0}, {1.0, 1e-8, 1e-16}};
  for (const arma::vec& values : spectra) {
    const arma::mat a = with_singular_values(15, 10, values, Key(test_seed()).child("made"));
    CHECK(std::abs(spectral_norm(a) - 1) <=
          spectral_error(a) + 30 * 10 * unit<double>());  // making A: 30 inner products
  }
}

TEST_CASE_TEMPLATE("norms: nothing overflows and nothing underflows", T, float, double) {
  const arma::Mat<T> a = random_matrix<T>(9, 6, Key(test_seed()).child("scales"));
  const double spectral = by_singular_values(a);
  const double squares = static_cast<double>(frobenius(a));
  const bool single = std::is_same_v<T, float>;
  for (const T scale : {single ? T(1e-35) : T(1e-300), single ? T(1e-25) : T(1e-160), T(1), single ? T(1e25) : T(1e150),
                        single ? T(1e37) : T(1e306)}) {
    CAPTURE(scale);
    const arma::Mat<T> b = scale * a;
    const double exact = static_cast<double>(scale);
    CHECK(std::abs(static_cast<double>(spectral_norm(b)) / exact - spectral) <=
          (spectral_error(a) + 4 * unit<T>()) * spectral);
    // 54 squares and their sum, the root, two scalings.
    CHECK(std::abs(static_cast<double>(frobenius_norm(b)) / exact - squares) <= (54 + 6) * unit<T>() * squares);
    CHECK(largest_entry(b) == arma::abs(b).max());
  }
  // A square is a number, the sum of a hundred is none.
  const T entry = std::sqrt(std::numeric_limits<T>::max()) / 2;
  const arma::Mat<T> equal(10, 10, arma::fill::value(entry));
  CHECK(std::abs(static_cast<double>(spectral_norm(equal) / entry) - 10) <= 1000 * unit<T>());
}

TEST_CASE_TEMPLATE("norms: of a zero and of an empty matrix are 0, of one entry its size, of an infinite one infinite",
                   T, float, double) {
  for (const arma::Mat<T>& a : {arma::Mat<T>(4, 3, arma::fill::zeros), arma::Mat<T>(), arma::Mat<T>(0, 3)}) {
    CHECK(spectral_norm(a) == 0);
    CHECK(frobenius_norm(a) == 0);
    CHECK(largest_entry(a) == 0);
  }
  const arma::Mat<T> one(1, 1, arma::fill::value(T(-2.5)));
  CHECK(spectral_norm(one) == T(2.5));
  CHECK(frobenius_norm(one) == T(2.5));
  CHECK(largest_entry(one) == T(2.5));
  const T infinity = std::numeric_limits<T>::infinity();
  const arma::Mat<T> unbounded = {T(1), -infinity};
  CHECK(spectral_norm(unbounded) == infinity);
  CHECK(frobenius_norm(unbounded) == infinity);
  CHECK(largest_entry(unbounded) == infinity);
  const T undefined = std::numeric_limits<T>::quiet_NaN();
  for (const arma::Mat<T>& a :
       {arma::Mat<T>{undefined}, arma::Mat<T>{T(0), undefined}, arma::Mat<T>{T(1), undefined},
        arma::Mat<T>{-undefined, T(1)}, arma::Mat<T>{undefined, infinity}, arma::Mat<T>{-infinity, undefined, T(1)}}) {
    CHECK(std::isnan(frobenius_norm(a)));
    CHECK(std::isnan(largest_entry(a)));
    CHECK(std::isnan(spectral_norm(a)));
  }
}

TEST_CASE("over_power_of_two: the largest entry is from 1 to 2, and digits do not change") {
  const double denormal = std::numeric_limits<double>::denorm_min(), largest = std::numeric_limits<double>::max();
  const arma::mat a = {{3, -12}, {0.25, 5}}, known = {{0.375, -1.5}, {0.03125, 0.625}};
  for (const double scale : {1.0, 0x1p-1000, 0x1p1000}) {
    CHECK(arma::all(arma::vectorise(over_power_of_two<double>(a * scale) == known)));
  }
  CHECK(over_power_of_two<double>({{-1, 1}})(0) == -1);
  CHECK(over_power_of_two<double>({{denormal, 3 * denormal}})(0) == 0.5);
  CHECK(over_power_of_two<double>({{largest, 0}})(0) == std::nextafter(2, 1));
  CHECK(arma::all(arma::vectorise(over_power_of_two<double>(arma::mat(2, 3, arma::fill::zeros)) == 0)));
  CHECK(over_power_of_two<double>(arma::mat()).is_empty());
  CHECK(over_power_of_two<float>({{0x1p-149F, 3 * 0x1p-149F}})(1) == 1.5F);
}

TEST_CASE_TEMPLATE("frobenius_norm: is the root of the sum of squares", T, float, double) {
  const arma::Mat<T> a = random_matrix<T>(40, 30, Key(test_seed()).child("frobenius"));
  const auto exact = static_cast<double>(frobenius(a));
  // 1,200 squares and sums, halved by the root.
  CHECK(std::abs(static_cast<double>(frobenius_norm(a)) - exact) <= (1202 / 2.0 + 4) * unit<T>() * exact);
}

TEST_CASE("frobenius_norm: of many floats is as exact as a float, though a sum of their squares in float is not") {
  arma::fmat a(6100, 6101, arma::fill::ones);  // a number of entries that no vector divides
  a(a.n_elem - 1) = 3000;                      // counts as 9,000,000 others
  const double exact = std::sqrt(static_cast<double>(a.n_elem - 1) + 9e6);
  CHECK(std::abs(static_cast<double>(frobenius_norm(a)) / exact - 1) <= 2 * unit<float>());
  CHECK(static_cast<double>(std::sqrt(arma::accu(arma::square(a)))) < 0.99 * exact);
}
