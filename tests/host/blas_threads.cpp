// The library in a program that has set threads for its own work, and not for the library's.
#include <doctest/doctest.h>
#include <omp.h>

#include <croquis/attention/method.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/linalg/norms.hpp>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include "host/library_calls.hpp"
#include "support/capture.hpp"
#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

constexpr int kHost = 4;  // OMP_NUM_THREADS

bool same_bits(const arma::mat& a, const arma::mat& b) {
  return arma::size(a) == arma::size(b) && std::memcmp(a.memptr(), b.memptr(), a.n_elem * sizeof(double)) == 0;
}

}  // namespace

TEST_CASE("host: the same bits for 1, 2 and 3 threads of the library and 1 and 4 of the host") {
  REQUIRE(omp_get_max_threads() == kHost);
  omp_set_num_threads(1);
  set_threads(1);
  const auto expected = library_results();
  for (const int host : {kHost, 1}) {
    for (const int own : {1, 2, 3}) {
      omp_set_num_threads(host);
      set_threads(own);
      const auto results = library_results();
      CHECK(omp_get_max_threads() == host);
      CHECK(threads() == own);
      for (const auto& [name, value] : expected) {
        CAPTURE_BINDING(name);
        CAPTURE(host);
        CAPTURE(own);
        CHECK(same_bits(results.at(name), value));
      }
    }
  }
  omp_set_num_threads(kHost);
  set_threads(0);
}

TEST_CASE("host: its number of threads is the same after an exception of the library and of its own operator") {
  REQUIRE(omp_get_max_threads() == kHost);
  for (const int own : {1, 3}) {
    set_threads(own);
    const auto fail = [](const arma::mat&) -> arma::mat {
      CHECK(omp_get_max_threads() == 1);
      throw std::range_error("of the host");
    };
    const LinearOperator<double> broken{8, 8, fail, fail};
    CHECK(refusal<std::range_error>([&] { spectral_norm(broken, Key(1)); }) == "of the host");
    CHECK(omp_get_max_threads() == kHost);
    CHECK(refusal<std::range_error>(
              [] { parallel_for(4, [](std::size_t) { throw std::range_error("in a loop"); }); }) == "in a loop");
    CHECK(omp_get_max_threads() == kHost);
    const Problem<double> problem = gaussian_input(Key(1), {.n = 40, .p = 4, .norm = 1});
    const auto method = prepare(find_method<double>("skyformer"), problem);
    CHECK(contains(refusal([&] { method.approximate(0, Key(1)); }), "1 <= d"));
    CHECK(omp_get_max_threads() == kHost);
  }
  set_threads(0);
}

TEST_CASE("host: threads of its own call the library at once, with a number each, and get the same bits") {
  REQUIRE(omp_get_max_threads() == kHost);
  const Problem<double> problem = gaussian_input(Key(1), {.n = 320, .p = 32, .norm = 2});
  const auto output = [&] {
    return prepare(find_method<double>("best-rank-d"), problem).approximate(24, Key(1)).output;
  };
  set_threads(2);
  const arma::mat expected = output();
  std::vector<int> same(3), kept(3);
  const auto use = [&](std::size_t i) {
    same[i] = same_bits(output(), expected);
    kept[i] = omp_get_max_threads();
  };
  std::vector<std::thread> team;
  for (std::size_t i = 0; i < 3; ++i) {
    team.emplace_back([&, i] {
      omp_set_num_threads(static_cast<int>(i) + 2);
      use(i);
    });
  }
  for (std::thread& thread : team) thread.join();
  CHECK(same == std::vector<int>(3, 1));
  CHECK(kept == std::vector<int>{2, 3, 4});
#ifndef __SANITIZE_THREAD__  // which does not see how libgomp hands a loop to its threads
#pragma omp parallel for num_threads(3)
  for (std::size_t i = 0; i < 3; ++i) use(i);
  CHECK(same == std::vector<int>(3, 1));
  CHECK(kept == std::vector<int>(3, kHost));
#endif
  CHECK(omp_get_max_threads() == kHost);
  set_threads(0);
}

TEST_CASE("SerialBlas: nests, and restores the number that its thread had") {
  REQUIRE(omp_get_max_threads() == kHost);
  {
    const SerialBlas outer;
    CHECK(omp_get_max_threads() == 1);
    {
      const SerialBlas inner;
      CHECK(omp_get_max_threads() == 1);
    }
    CHECK(omp_get_max_threads() == 1);
    int other = 0;
    std::thread([&] { other = omp_get_max_threads(); }).join();
    CHECK(other == kHost);
  }
  CHECK(omp_get_max_threads() == kHost);
}
