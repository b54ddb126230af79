// SerialBlas on OpenBLAS with threads of its own: three functions stand in for it, for only one variant can be loaded.
// The loader takes them in place of OpenBLAS's; its products are not called here.
#include <doctest/doctest.h>
#include <omp.h>

#include <atomic>
#include <barrier>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/refusal.hpp"

using namespace croquis;

namespace {
std::atomic<int> blas_threads{6}, times_set{0};
}

extern "C" {
int openblas_get_parallel(void) {
  return 1;
}
int openblas_get_num_threads(void) {
  return blas_threads;
}
void openblas_set_num_threads(int number) {
  blas_threads = number;
  ++times_set;
}
}

TEST_CASE("SerialBlas on the pthread variant: one thread while the first to come and the last to go are inside") {
  blas_threads = 6;
  std::vector<int> seen(4);
  std::barrier inside(4);
  std::vector<std::thread> team;
  for (std::size_t i = 0; i < 4; ++i) {
    team.emplace_back([&, i] {
      for (int round = 0; round < 100; ++round) {
        const SerialBlas serial;
        if (round == 50) inside.arrive_and_wait();
        seen[i] += blas_threads;
      }
    });
  }
  for (std::thread& thread : team) thread.join();
  CHECK(seen == std::vector<int>(4, 100));
  CHECK(blas_threads == 6);
}

TEST_CASE("SerialBlas on the pthread variant: only the outermost one of a thread sets anything; exceptions restore") {
  blas_threads = 3;
  times_set = 0;
  CHECK(refusal<std::range_error>([] {
          const SerialBlas outer;
          for (int i = 0; i < 10; ++i) {
            const SerialBlas inner;
            CHECK(blas_threads == 1);
          }
          throw std::range_error("through both");
        }) == "through both");
  CHECK(blas_threads == 3);
  CHECK(times_set == 2);
}

TEST_CASE("parallel_for on the pthread variant: BLAS is on one thread inside") {
  blas_threads = 5;
  for (const int team : {1, 3}) {
    set_threads(team);
    std::atomic<int> most{0};
    parallel_for(30, [&](std::size_t) { most = std::max(most.load(), blas_threads.load()); });
    CHECK(most == 1);
    CHECK(blas_threads == 5);
  }
  set_threads(0);
}
