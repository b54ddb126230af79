#include <doctest/doctest.h>
#include <fmt/format.h>
#include <omp.h>
#include <croquis/core/threads.hpp>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/refusal.hpp"
#include "support/text.hpp"
#include "support/thread_count.hpp"

using namespace croquis;

TEST_CASE("threads: the number is the chosen one, and 0 gives back the default") {
  const int standard = threads();
  CHECK(standard >= 1);
  {
    const ThreadCount count(3);
    CHECK(threads() == 3);
  }
  {
    const ThreadCount count(1);
    CHECK(threads() == 1);
  }
  CHECK(threads() == standard);
  CHECK(refusal([] { set_threads(-1); }) == "set_threads: count >= 0, got count = -1");
  CHECK(threads() == standard);
}

TEST_CASE("parallel_for: each index runs once, for fewer and for more indices than threads") {
  for (const int team : {1, 2, 4}) {
    const ThreadCount count(team);
    for (const std::size_t size : {0U, 1U, 2U, 3U, 1000U}) {
      CAPTURE(team);
      CAPTURE(size);
      std::vector<std::atomic<int>> runs(size);
      parallel_for(size, [&](std::size_t i) { ++runs[i]; });
      for (std::size_t i = 0; i < size; ++i) REQUIRE(runs[i] == 1);
    }
  }
}

TEST_CASE("parallel_for: an exception of the body reaches the caller") {
  for (const int team : {1, 2, 4}) {
    const ThreadCount count(team);
    const auto fail_at = [](std::size_t bad) {
      parallel_for(100, [bad](std::size_t i) {
        if (i == bad) throw std::out_of_range("index " + std::to_string(i));
      });
    };
    for (const std::size_t bad : {0U, 42U, 99U}) {
      CHECK(refusal<std::out_of_range>([&] { fail_at(bad); }) == "index " + std::to_string(bad));
    }
    CHECK(contains(refusal<std::runtime_error>(
                       [] { parallel_for(100, [](std::size_t) { throw std::runtime_error("all fail"); }); }),
                   "all fail"));
    std::atomic<int> runs = 0;
    parallel_for(10, [&](std::size_t) { ++runs; });  // and the next loop runs as if nothing had happened
    CHECK(runs == 10);
  }
}

TEST_CASE("parallel_for: stacks that the system does not have are an exception, as libgomp would end the process") {
  struct Variable {
    Variable(const char* variable, const char* value) : name(variable) { ::setenv(name, value, 1); }
    ~Variable() { ::unsetenv(name); }
    const char* name;
  };
  // 200000 GiB are more than the 2^47 bytes that a process can address. A team that once was there is not
  // asked for again, so each is larger than those before it.
  int team = 10;
  const auto run = [&] {
    const ThreadCount count(team);
    std::atomic<int> runs = 0;
    parallel_for(static_cast<std::size_t>(team), [&](std::size_t) { ++runs; });
    CHECK(runs == team);
  };
  for (const char* size :
       {"200000G", "200000g", "204800000M", " 209715200000 ", "+209715200000 k ", "214748364800000B"}) {
    CAPTURE(size);
    ++team;
    for (const char* name : {"OMP_STACKSIZE", "GOMP_STACKSIZE"}) {
      const Variable variable(name, size);
      CHECK(contains(refusal<std::runtime_error>(run), std::string(name) + "=" + size));
    }
    const Variable first("OMP_STACKSIZE", "16384"), second("GOMP_STACKSIZE", size);
    ++team;
    run();
  }
  for (const char* size : {"511", "100000B", "128k"}) {
    CAPTURE(size);
    const Variable variable("OMP_STACKSIZE", size);
    ++team;
    const std::string why = refusal<std::runtime_error>(run);
    CHECK_MESSAGE(contains(why, fmt::format("OMP_STACKSIZE={} is less stack than a thread needs; set 512K", size)),
                  why);
  }
  {
    const Variable variable("OMP_STACKSIZE", "512");
    run();
  }
  // What libgomp ignores; the last two have more than 64 bits.
  for (const char* size :
       {"", "x", "-1", "2e5G", "200000GB", "200000T", "200000 0G", "18446744073709551616", "18014398509481984K"}) {
    CAPTURE(size);
    const Variable variable("OMP_STACKSIZE", size);
    ++team;
    run();
    const Variable second("GOMP_STACKSIZE", "200000G");
    ++team;
    CHECK(contains(refusal<std::runtime_error>(run), "GOMP_STACKSIZE=200000G"));
  }
}

TEST_CASE("parallel_for: a loop inside a loop runs each pair once, and its exceptions pass both") {
  const ThreadCount count(4);
  std::vector<std::atomic<int>> runs(std::size_t{20} * 30);
  parallel_for(20, [&](std::size_t i) { parallel_for(30, [&](std::size_t j) { ++runs[i * 30 + j]; }); });
  for (const auto& run : runs) REQUIRE(run == 1);
  CHECK(refusal<std::range_error>([] {
          parallel_for(8, [](std::size_t) {
            parallel_for(8, [](std::size_t j) {
              if (j == 7) throw std::range_error("inner");
            });
          });
        }) == "inner");
}

TEST_CASE("parallel_for: BLAS is on one thread inside, also when the loop is, and free again after it") {
  // OpenBLAS of the OpenMP variant asks exactly this. On two threads it adds in another order, to other bits.
  const auto is_serial = [] { return omp_in_parallel() != 0 || omp_get_max_threads() == 1; };
  for (const int team : {1, 2}) {
    const ThreadCount count(team);
    const int before = omp_get_max_threads();
    for (const std::size_t size : {1U, 4U}) {
      std::atomic<int> serial = 0;
      parallel_for(size, [&](std::size_t) {
        parallel_for(1, [&](std::size_t) { serial += is_serial() ? 0 : -100; });
        serial += is_serial() ? 1 : 0;
      });
      CHECK(serial == static_cast<int>(size));
      CHECK(omp_get_max_threads() == before);
    }
    CHECK(refusal<std::range_error>([] { parallel_for(1, [](std::size_t) { throw std::range_error("x"); }); }) == "x");
    CHECK(omp_get_max_threads() == before);
  }
}
