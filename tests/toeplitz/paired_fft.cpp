#include <doctest/doctest.h>
#include <croquis/toeplitz/paired_fft.hpp>

#include <cmath>
#include <complex>
#include <numbers>

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

TEST_CASE_TEMPLATE("PairedFft: forward is the definition for the two sequences of each pair, backward undoes it", T,
                   float, double) {
  for (const arma::uword length : {1U, 2U, 14U, 30U, 64U, 90U}) {
    CAPTURE(length);
    const arma::uword count = 5;
    const PairedFft<T> fft(length);
    PairedSequences<T> sequences(count, length), transforms(count, length), back(count, length);
    REQUIRE(sequences.pairs() == 3);
    const arma::Mat<T> x = random_matrix<T>(length, count, Key(test_seed()).child(length));
    sequences.fill_zero();
    for (arma::uword c = 0; c < count; ++c) {
      for (arma::uword s = 0; s < length; ++s) sequences.at(c, s) = x(s, c);
    }
    for (arma::uword pair = 0; pair < 3; ++pair) fft.forward(sequences, pair, transforms, pair);
    const double n = static_cast<double>(length);
    const double bound = 7 * unit<T>() * (std::log2(n) + 1) * std::sqrt(n) * static_cast<double>(arma::norm(x, "fro"));
    for (arma::uword pair = 0; pair < 3; ++pair) {
      CHECK(transforms.pair(pair)[length] == transforms.pair(pair)[0]);
      for (arma::uword f = 0; f < length; ++f) {
        std::complex<long double> sum = 0;
        for (arma::uword s = 0; s < length; ++s) {
          const long double angle = -2 * std::numbers::pi_v<long double> * static_cast<long double>(f * s % length) /
                                    static_cast<long double>(length);
          const long double imaginary = 2 * pair + 1 < count ? static_cast<long double>(x(s, 2 * pair + 1)) : 0;
          sum += std::complex<long double>(static_cast<long double>(x(s, 2 * pair)), imaginary) *
                 std::complex<long double>(std::cos(angle), std::sin(angle));
        }
        const std::complex<T> value = transforms.pair(pair)[f];
        CHECK(std::abs(static_cast<double>(value.real()) - static_cast<double>(sum.real())) <= bound);
        CHECK(std::abs(static_cast<double>(value.imag()) - static_cast<double>(sum.imag())) <= bound);
      }
    }
    for (arma::uword pair = 0; pair < 3; ++pair) fft.backward(transforms, pair, back, pair);
    for (arma::uword c = 0; c < count; ++c) {
      for (arma::uword s = 0; s < length; ++s) {
        CHECK(std::abs(static_cast<double>(back.at(c, s)) / n - static_cast<double>(x(s, c))) <=
              2 * bound / std::sqrt(n));
      }
    }
  }
  CHECK(contains(refusal([] { PairedFft<T>(0); }), "length = 0"));
  CHECK(contains(refusal([] { PairedFft<T>(arma::uword{1} << 31); }), "1 <= length < 2^31"));
}
