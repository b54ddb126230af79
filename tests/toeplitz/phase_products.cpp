#include <doctest/doctest.h>
#include <croquis/toeplitz/phase_products.hpp>

#include <cmath>
#include <complex>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/seed.hpp"

using namespace croquis;

namespace {

using Wide = std::complex<long double>;
using Sequences = std::vector<std::vector<Wide>>;  // a spectrum for each

// The transforms of random real sequences, and their spectra by definition of a real and an imaginary part: those of
// the paired transforms themselves, so that no transform's error is in the comparison.
template <typename T>
PairedSequences<T> random_transforms(arma::uword count, arma::uword length, const std::string& name) {
  PairedSequences<T> sequences(count, length), transforms(count, length);
  const arma::Mat<T> x = random_matrix<T>(length, count, Key(test_seed()).child(name).child(length));
  sequences.fill_zero();
  for (arma::uword c = 0; c < count; ++c) {
    for (arma::uword s = 0; s < length; ++s) sequences.at(c, s) = x(s, c);
  }
  const PairedFft<T> fft(length);
  for (arma::uword p = 0; p < sequences.pairs(); ++p) fft.forward(sequences, p, transforms, p);
  return transforms;
}

// By x_f = (z_f + conj z_-f) / 2 and y_f = (z_f - conj z_-f) / 2i at all L frequencies.
template <typename T>
Sequences spectra_of(PairedSequences<T>& transforms, arma::uword count) {
  const arma::uword length = transforms.length();
  Sequences spectra(count, std::vector<Wide>(length));
  for (arma::uword c = 0; c < count; ++c) {
    for (arma::uword f = 0; f < length; ++f) {
      const Wide z(transforms.pair(c / 2)[f]), mirrored(std::conj(transforms.pair(c / 2)[(length - f) % length]));
      spectra[c][f] = c % 2 == 0 ? (z + mirrored) / 2.0L : (z - mirrored) / Wide(0, 2);
    }
  }
  return spectra;
}

template <typename T>
Wide entry(const Spectra<T>& spectra, arma::uword sequence, arma::uword f) {
  const T* tile = spectra.tile(f / Spectra<T>::kTile) + sequence * 2 * Spectra<T>::kTile + f % Spectra<T>::kTile;
  return {static_cast<long double>(tile[0]), static_cast<long double>(tile[Spectra<T>::kTile])};
}

}  // namespace

TEST_CASE_TEMPLATE("Spectra: split has the spectra of both sequences of a pair, and join undoes it", T, float, double) {
  for (const arma::uword length : {64U, 90U, 128U, 162U}) {
    CAPTURE(length);
    auto transforms = random_transforms<T>(5, length, "split");
    const Sequences expected = spectra_of(transforms, 5);
    Spectra<T> spectra(5, length);
    split(transforms, spectra);
    double largest = 0, error = 0;
    for (arma::uword c = 0; c < 5; ++c) {
      for (arma::uword f = 0; f <= length / 2; ++f) {
        raise(error, std::abs(entry(spectra, c, f) - expected[c][f]));
        largest = std::max(largest, static_cast<double>(std::abs(expected[c][f])));
      }
    }
    CHECK(error <= 4 * unit<T>() * largest);
    PairedSequences<T> joined(5, length);
    join(spectra, joined);
    double change = 0;
    for (arma::uword p = 0; p < 3; ++p) {
      for (arma::uword f = 0; f < length; ++f) {
        raise(change, std::abs(joined.pair(p)[f] - transforms.pair(p)[f]));
      }
    }
    CHECK(change <= 8 * unit<T>() * largest);
  }
}

TEST_CASE_TEMPLATE("multiply_phases: sums of products of spectra by definition, and of the transpose", T, float,
                   double) {
  for (const arma::uword phases : {1U, 2U, 3U, 4U, 6U, 9U, 16U}) {
    for (const arma::uword length : {64U, 90U}) {
      CAPTURE(phases);
      CAPTURE(length);
      auto of_kernel = random_transforms<T>(2 * phases - 1, length, "kernel");
      auto x = random_transforms<T>(phases, length, "x");
      const Sequences c = spectra_of(of_kernel, 2 * phases - 1), of_x = spectra_of(x, phases);
      Spectra<T> kernel(2 * phases - 1, length), kept(phases, length);
      split(of_kernel, kernel);
      for (const bool transposed : {false, true}) {
        auto y = random_transforms<T>(phases, length, "x"), again = random_transforms<T>(phases, length, "x");
        multiply_phases(phases, kernel, transposed, y);
        multiply_phases(phases, kernel, transposed, again, &kept);
        const Sequences result = spectra_of(y, phases);
        // The numbers of a pair carry the errors of both of its sequences.
        std::vector<Wide> sums(phases + 1);
        std::vector<long double> sizes(phases + 1);
        double worst = 0;
        for (arma::uword f = 0; f < length; ++f) {
          for (arma::uword r = 0; r < phases; ++r) {
            sums[r] = sizes[r] = 0;
            for (arma::uword s = 0; s < phases; ++s) {
              const Wide factor = transposed ? std::conj(c[r + phases - 1 - s][f]) : c[s + phases - 1 - r][f];
              sums[r] += factor * of_x[s][f];
              sizes[r] += std::abs(factor) * std::abs(of_x[s][f]);
            }
          }
          for (arma::uword r = 0; r < phases; ++r) {
            const long double size = sizes[r / 2 * 2] + sizes[r / 2 * 2 + 1];
            raise(worst, std::abs(result[r][f] - sums[r]) / size);
            REQUIRE(y.pair(r / 2)[f] == again.pair(r / 2)[f]);
          }
        }
        CHECK(worst <= (3 * static_cast<double>(phases) + 4) * unit<T>());
        for (arma::uword r = 0; r < phases; ++r) {
          for (arma::uword f = 0; f <= length / 2; ++f) {
            REQUIRE(std::abs(entry(kept, r, f) - of_x[r][f]) <= 8 * unit<T>() * length);
          }
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("add_correlations: sums of conj(x_r) y_{r+t} are added", T, float, double) {
  for (const arma::uword phases : {1U, 2U, 5U, 8U}) {
    CAPTURE(phases);
    const arma::uword length = 90, lags = 2 * phases - 1;
    auto x = random_transforms<T>(phases, length, "x"), y = random_transforms<T>(phases, length, "y");
    const Sequences of_x = spectra_of(x, phases), of_y = spectra_of(y, phases);
    Spectra<T> left(phases, length), right(phases, length), sum(lags, length);
    split(x, left);
    split(y, right);
    add_correlations(phases, left, right, sum);
    add_correlations(phases, left, right, sum);
    double worst = 0;
    for (arma::uword e = 0; e < lags; ++e) {
      for (arma::uword f = 0; f <= length / 2; ++f) {
        Wide expected = 0;
        long double size = 0;
        for (arma::uword r = 0; r < phases; ++r) {
          const auto other = static_cast<long>(r + e) - static_cast<long>(phases - 1);
          if (other < 0 || other >= static_cast<long>(phases)) continue;
          const Wide product = std::conj(of_x[r][f]) * of_y[static_cast<arma::uword>(other)][f];
          expected += 2.0L * product;
          size += 2 * std::abs(product);
        }
        raise(worst, std::abs(entry(sum, e, f) - expected) / size);
      }
    }
    CHECK(worst <= 2 * (3 * static_cast<double>(phases) + 4) * unit<T>());
  }
}
