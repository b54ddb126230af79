// How long something took.
#pragma once

#include <chrono>

namespace croquis {

/// Runs from its construction on, by a clock that nobody sets back.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace croquis
