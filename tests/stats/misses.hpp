// Coverage of an interval, by drawing samples.
#pragma once

#include <croquis/stats/intervals.hpp>
#include <functional>

#include "stats/reference.hpp"

using Draw = std::function<std::vector<double>(const croquis::Key&)>;
using Estimate = std::function<croquis::Interval(const croquis::Accumulator&)>;

/// How often the interval of a fresh sample does not contain the truth.
inline std::uint64_t misses(const Draw& draw, double truth, std::uint64_t repeats, const croquis::Key& key,
                            const Estimate& estimate) {
  std::uint64_t count = 0;
  for (std::uint64_t r = 0; r < repeats; ++r) {
    if (!estimate(accumulated(draw(key.child(r)))).contains(truth)) ++count;
  }
  return count;
}
