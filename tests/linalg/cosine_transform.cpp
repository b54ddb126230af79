#include <doctest/doctest.h>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/cosine_transform.hpp>

#include <cmath>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

namespace {

// The matrix by its formula, unreduced angles, in long double.
Dense cosines(arma::uword n) {
  const long double pi = std::acos(-1.0L), size = static_cast<long double>(n);
  Dense c(n, n);
  for (arma::uword k = 0; k < n; ++k) {
    for (arma::uword i = 0; i < n; ++i) {
      c(k, i) =
          std::sqrt((k == 0 ? 1 : 2) / size) * std::cos(pi * static_cast<long double>((2 * i + 1) * k) / (2 * size));
    }
  }
  return c;
}

}  // namespace

TEST_CASE_TEMPLATE("CosineTransform: is the orthonormal DCT-II, and its transpose, for any length", T, float, double) {
  // An FFT is off by at most 7 u log2 n ||x|| (Higham 2002, Thm. 24.2), a prime length takes three of about twice the
  // length, the DCT one rotation before and after: 25 (log2 n + 3) u ||x||.
  for (const arma::uword n : {1U, 2U, 3U, 4U, 5U, 13U, 64U, 100U, 127U, 257U}) {
    CAPTURE(n);
    const CosineTransform<T> transform(n);
    CHECK(transform.length() == n);
    const Dense c = cosines(n);
    const arma::Mat<T> x = random_matrix<T>(n, 1, Key(test_seed()).child(n));
    arma::Mat<T> y = x, z = x;
    transform.apply(y.memptr());
    transform.apply_transposed(z.memptr());
    const double bound = 25 * (std::log2(static_cast<double>(n)) + 3) * unit<T>() * static_cast<double>(frobenius(x));
    CHECK(distance(y, c * x) <= bound);
    CHECK(distance(z, transposed(c) * x) <= bound);
    transform.apply_transposed(y.memptr());
    CHECK(distance(y, x) <= 2 * bound);
  }
}

TEST_CASE_TEMPLATE("CosineTransform::entry: is the formula, for long transforms too", T, float, double) {
  // In double: the angle 3 u (pi, product, quotient) times at most 2 pi, the cosine 1 u, root and product 3 u, all of
  // sqrt(2/n); rounding to T.
  for (const arma::uword n : {1U, 2U, 7U, 64U}) {
    const CosineTransform<T> transform(n);
    arma::Mat<T> c(n, n);
    for (arma::uword k = 0; k < n; ++k) {
      for (arma::uword i = 0; i < n; ++i) c(k, i) = transform.entry(k, i);
    }
    const double bound = (24 * unit<double>() + unit<T>()) * std::sqrt(2 / static_cast<double>(n));
    CHECK(distance(c, cosines(n)) <= bound);
  }
  // n = 10^6, k = 999,999, i = 999,983: (2i + 1) k = 1999967 * 10^6 - 1999967 = 3000000 - 1999967 = 1000033 mod 4n, so
  // the cosine is that of pi/2 + 33 pi / (2 10^6).
  const double expected = -std::sqrt(2e-6) * std::sin(33 * 3.14159265358979323846 / 2e6);
  CHECK(std::abs(static_cast<double>(CosineTransform<T>(1000000).entry(999999, 999983)) - expected) <=
        24 * unit<double>() * std::sqrt(2e-6) + unit<T>() * std::abs(expected));
}

TEST_CASE("CosineTransform: made and used by several threads at once") {
  const ThreadCount count(4);
  std::vector<int> right(60);
  parallel_for(right.size(), [&](std::size_t t) {
    const arma::uword n = 100 + t % 7;
    const CosineTransform<double> transform(n);
    arma::vec x(n, arma::fill::zeros);
    x(0) = 1;
    transform.apply(x.memptr());  // column 0 of C
    double gap = 0;
    for (arma::uword k = 0; k < n; ++k) raise(gap, std::abs(x(k) - transform.entry(k, 0)));
    right[t] = gap <= 25 * 10 * unit<double>();
  });
  CHECK(std::count(right.begin(), right.end(), 1) == 60);
}

TEST_CASE_TEMPLATE("CosineTransform: the same bits wherever the array lies", T, float, double) {
  const CosineTransform<T> transform(96);
  const arma::Mat<T> x = random_matrix<T>(96, 1, Key(test_seed()).child("places"));
  arma::Mat<T> expected = x;
  transform.apply(expected.memptr());
  for (std::size_t shift = 0; shift < 8; ++shift) {
    std::vector<T> room(96 + 8);
    std::copy(x.begin(), x.end(), room.begin() + static_cast<std::ptrdiff_t>(shift));
    transform.apply(room.data() + shift);
    CHECK(std::equal(expected.begin(), expected.end(), room.begin() + static_cast<std::ptrdiff_t>(shift)));
  }
}

TEST_CASE("CosineTransform: lengths that FFTW has not are refused") {
  CHECK(refusal([] { CosineTransform<double>(0); }) == "CosineTransform: 1 <= n < 2^31, got n = 0");
  CHECK(contains(refusal([] { CosineTransform<float>(arma::uword{1} << 31); }), "got n = 2147483648"));
}
