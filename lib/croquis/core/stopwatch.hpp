// Elapsed time.
#pragma once

#include <chrono>

namespace croquis {

/// Measures the time since its construction with a monotonic clock.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace croquis
