#include <doctest/doctest.h>
#include <croquis/linalg/cosine_transform.hpp>
#include <croquis/linalg/fftw_plans.hpp>
#include <croquis/toeplitz/paired_fft.hpp>

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

using namespace croquis;

TEST_CASE_TEMPLATE("fftw_plan: one plan a transform, and no more plans than are kept", T, float, double) {
  using Kind = FftwTransform::Kind;
  const auto first = fftw_plan<T>({Kind::cosine, 7});
  CHECK(first == fftw_plan<T>({Kind::cosine, 7}));
  CHECK(first != fftw_plan<T>({Kind::cosine_back, 7}));
  CHECK(first != fftw_plan<T>({Kind::cosine, 8}));
  for (int n = 1; n <= 200; ++n) {
    fftw_plan<T>({Kind::complex_forward, n});
    REQUIRE(fftw_plans_kept<T>() <= kKeptFftwPlans);
  }
  CHECK(fftw_plans_kept<T>() == kKeptFftwPlans);
  CHECK(first != fftw_plan<T>({Kind::cosine, 7}));  // given up, but good where it is held
  std::vector<T> x(7, T(1)), y(7, T(1));
  first->in_place(x.data());
  fftw_plan<T>({Kind::cosine, 7})->in_place(y.data());
  CHECK(x == y);
}

TEST_CASE_TEMPLATE("fftw_plan: transforms of more lengths than are kept, from several threads, are right", T, float,
                   double) {
  // A constant array: its cosine transform is sqrt(n) e_0, its spectrum n e_0. To 1e-4 of the largest entry, which an
  // array or a plan of another thread would miss by all of it.
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (arma::uword i = 0; i < 120; ++i) {
        const arma::uword n = 1 + (37 * i + static_cast<arma::uword>(t)) % 101;
        std::vector<T> x(n, T(1));
        CosineTransform<T>(n).apply(x.data());
        wrong += !(std::abs(x[0] - std::sqrt(static_cast<T>(n))) < T(1e-4) * std::sqrt(static_cast<T>(n)));
        wrong += n > 1 && !(std::abs(x[n - 1]) < T(1e-4) * std::sqrt(static_cast<T>(n)));
        PairedSequences<T> sequences(1, n), transforms(1, n);
        sequences.fill_zero();
        for (arma::uword s = 0; s < n; ++s) sequences.at(0, s) = 1;
        PairedFft<T>(n).forward(sequences, 0, transforms, 0);
        wrong += !(std::abs(transforms.at(0, 0) - static_cast<T>(n)) < T(1e-4) * static_cast<T>(n));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}
