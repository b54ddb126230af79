#include <doctest/doctest.h>
#include <croquis/core/interruption.hpp>
#include <croquis/core/threads.hpp>

#include <atomic>
#include <exception>
#include <stdexcept>
#include <thread>

#include "support/thread_count.hpp"

using namespace croquis;

TEST_CASE("interruption: a loop stops between bodies, on any number of threads") {
  for (const int team : {1, 2, 4}) {
    CAPTURE(team);
    const ThreadCount count(team);
    std::atomic<int> runs = 0;
    const Interruptible interruptible([&] { return runs >= 10; });
    CHECK_THROWS_AS(parallel_for(1000, [&](std::size_t) { ++runs; }), Interrupted);
    CHECK(runs >= 10);
    CHECK(runs < 10 + team);  // bodies that had begun
    CHECK_THROWS_AS(throw_if_interrupted(), Interrupted);
  }
}

TEST_CASE("interruption: loops in the bodies of loops stop too") {
  for (const int team : {1, 3}) {
    const ThreadCount count(team);
    std::atomic<int> runs = 0;
    const Interruptible interruptible([&] { return runs >= 10; });
    const auto inner = [&](std::size_t) { parallel_for(1000, [&](std::size_t) { ++runs; }); };
    CHECK_THROWS_AS(parallel_for(4, inner), Interrupted);
    CHECK(runs < 10 + team);
  }
}

TEST_CASE("interruption: nothing is asked before, after, within another thread, or where the inner one says no") {
  const ThreadCount count(2);
  std::atomic<int> questions = 0, runs = 0;
  const auto loop = [&] { parallel_for(50, [&](std::size_t) { ++runs; }); };
  loop();
  {
    const Interruptible outer([&] { return ++questions > 0; });
    std::thread(loop).join();
    {
      const Interruptible inner([] { return false; });
      loop();
    }
    CHECK(questions == 0);
    CHECK_THROWS_AS(loop(), Interrupted);
  }
  const int asked = questions;
  CHECK(asked > 0);
  runs = 0;
  loop();
  CHECK(runs == 50);
  CHECK(questions == asked);
}

TEST_CASE("interruption: it is no breakdown, and one of those comes out as it is") {
  const Interruptible interruptible([] { return false; });
  CHECK_THROWS_AS(parallel_for(9, [](std::size_t) { throw std::runtime_error("breaks down"); }), std::runtime_error);
  const Interruptible stopped([] { return true; });
  bool handled = false;
  try {
    try {
      parallel_for(9, [](std::size_t) {});
    } catch (const std::exception&) {
      handled = true;
    }
  } catch (const Interrupted&) {
  }
  CHECK_FALSE(handled);
}
