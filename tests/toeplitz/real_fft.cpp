#include <doctest/doctest.h>
#include <croquis/toeplitz/real_fft.hpp>

#include <cmath>
#include <numbers>

#include "support/capture.hpp"
#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

TEST_CASE("fft_friendly_length: the next even number with the factors 2, 3, 5 and 7 alone") {
  const auto is_good = [](arma::uword n) {
    if (n % 2 == 1) return n == 1;
    for (const arma::uword factor : {7U, 5U, 3U, 2U}) {
      while (n % factor == 0) n /= factor;
    }
    return n == 1;
  };
  for (arma::uword n = 1; n < 3000; ++n) {
    const arma::uword length = fft_friendly_length(n);
    REQUIRE(is_good(length));
    REQUIRE(length >= n);
    for (arma::uword between = n; between < length; ++between) REQUIRE_FALSE(is_good(between));
  }
  CHECK(fft_friendly_length(0) == 1);
  CHECK(fft_friendly_length(131071) == 131072);
}

TEST_CASE_TEMPLATE("RealFft: forward is the definition, backward undoes it up to the number of entries", T, float,
                   double) {
  for (const auto& [rows, cols] :
       {std::pair<arma::uword, arma::uword>{1, 1}, {1, 2}, {1, 14}, {1, 30}, {6, 10}, {10, 6}, {2, 1}}) {
    CAPTURE_BINDING(rows);
    CAPTURE_BINDING(cols);
    const RealFft<T> fft(rows, cols);
    typename RealFft<T>::Workspace work(fft);
    const arma::Mat<T> x = random_matrix<T>(rows * cols, 1, Key(test_seed()).child(rows).child(cols));
    std::copy(x.begin(), x.end(), work.real());
    fft.forward(work);
    const double bound = 7 * unit<T>() * (std::log2(static_cast<double>(x.n_elem)) + 1) * std::sqrt(x.n_elem) *
                         static_cast<double>(arma::norm(x));
    REQUIRE(fft.spectrum_size() == rows * (cols / 2 + 1));
    for (arma::uword k = 0; k < rows; ++k) {
      for (arma::uword l = 0; l <= cols / 2; ++l) {
        long double re = 0, im = 0;
        for (arma::uword r = 0; r < rows; ++r) {
          for (arma::uword c = 0; c < cols; ++c) {
            const long double turns = static_cast<long double>(k * r % rows) / static_cast<long double>(rows) +
                                      static_cast<long double>(l * c % cols) / static_cast<long double>(cols);
            const long double angle = -2 * std::numbers::pi_v<long double> * turns;
            re += static_cast<long double>(x(r * cols + c)) * std::cos(angle);
            im += static_cast<long double>(x(r * cols + c)) * std::sin(angle);
          }
        }
        const std::complex<T> value = work.spectrum()[k * (cols / 2 + 1) + l];
        CHECK(std::abs(static_cast<double>(value.real()) - static_cast<double>(re)) <= bound);
        CHECK(std::abs(static_cast<double>(value.imag()) - static_cast<double>(im)) <= bound);
      }
    }
    fft.backward(work);
    for (arma::uword i = 0; i < x.n_elem; ++i) {
      const double back = static_cast<double>(work.real()[i]) / static_cast<double>(x.n_elem);
      CHECK(std::abs(back - static_cast<double>(x(i))) <= 2 * bound / std::sqrt(static_cast<double>(x.n_elem)));
    }
  }
  CHECK(contains(refusal([] { RealFft<T>(0, 4); }), "rows = 0"));
  CHECK(contains(refusal([] { RealFft<T>(1, arma::uword{1} << 31); }), "1 <= rows, cols < 2^31"));
}
