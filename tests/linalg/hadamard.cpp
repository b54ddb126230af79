#include <doctest/doctest.h>
#include <croquis/linalg/hadamard.hpp>

#include <bit>
#include <vector>

#include "support/dense.hpp"
#include "support/matrices.hpp"
#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

TEST_CASE_TEMPLATE("hadamard_transform: is (H, H; H, -H), exactly, on unit vectors", T, float, double) {
  arma::Mat<T> h(1, 1, arma::fill::ones);
  for (; h.n_rows <= 512; h = arma::join_cols(arma::join_rows(h, h), arma::join_rows(h, -h))) {
    arma::Mat<T> x(h.n_rows, h.n_rows, arma::fill::eye);
    hadamard_transform(x);
    CHECK(identical(x, h));
  }
}

TEST_CASE_TEMPLATE("hadamard_transform: column j of a long one is (-1)^popcount(i & j)", T, float, double) {
  // 2,048 to 65,536: below and above the length that is transformed in one stretch, even and odd powers of two.
  for (arma::uword n = 2048; n <= 65536; n *= 2) {
    for (const arma::uword j : {arma::uword{0}, arma::uword{1}, n / 2 + 5, n - 1}) {
      std::vector<T> x(n);
      x[j] = 1;
      hadamard_transform(x.data(), n);
      bool right = true;
      for (arma::uword i = 0; i < n; ++i) right = right && x[i] == (std::popcount(i & j) % 2 == 0 ? 1 : -1);
      CHECK(right);
    }
  }
}

TEST_CASE_TEMPLATE("hadamard_transform: H H x = n x within 2 log2 n u sum |x|", T, float, double) {
  // Once: log2 n u s with s = sum |x|, an entry. Twice: that from each of n entries, n log2 n u s, and log2 n u times
  // the sum of the transformed, at most n s.
  for (const arma::uword n : {1U, 2U, 32U, 8192U}) {
    const arma::Mat<T> x = random_matrix<T>(n, 3, Key(test_seed()).child("twice"));
    arma::Mat<T> y = x;
    hadamard_transform(y);
    hadamard_transform(y);
    const auto size = static_cast<double>(n);
    const double sum = static_cast<double>(arma::max(arma::sum(arma::abs(x), 0)));
    CHECK(distance(y, static_cast<long double>(n) * Dense(x)) <= 1.01 * size * 2 * std::log2(size) * unit<T>() * sum);
  }
}

TEST_CASE("hadamard_transform: the same bits for any number of threads") {
  const arma::mat x = random_matrix(1024, 7, Key(test_seed()).child("threads"));
  const auto transformed = [&](int team) {
    const ThreadCount count(team);
    arma::mat y = x;
    hadamard_transform(y);
    return y;
  };
  CHECK(identical(transformed(2), transformed(1)));
  CHECK(identical(transformed(4), transformed(1)));
}

TEST_CASE("hadamard_transform: lengths that are no powers of two are refused; next_power_of_two is one") {
  arma::mat x(6, 2);
  CHECK(refusal([&] { hadamard_transform(x); }) == "hadamard_transform: n a power of two, got n = 6");
  CHECK(contains(refusal([&] { hadamard_transform(x.memptr(), 0); }), "got n = 0"));
  CHECK(next_power_of_two(std::size_t{1} << 63) == std::size_t{1} << 63);
  CHECK(contains(refusal([] { next_power_of_two((std::size_t{1} << 63) + 1); }), "next_power_of_two: n <= 2^63"));
  const std::pair<std::size_t, std::size_t> next[] = {{1, 1}, {2, 2}, {3, 4}, {5, 8}, {8, 8}, {1025, 2048}};
  for (const auto& [n, power] : next) CHECK(next_power_of_two(n) == power);
}
