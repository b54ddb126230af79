// A head of an input before its numbers are there.
#pragma once

#include <croquis/attention/problem.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

struct PendingHead {
  std::string name;                                ///< in the results
  std::optional<std::uint64_t> layer, head;        ///< where the input has several
  std::function<croquis::Problem<double>()> load;  ///< reads or computes it, for one thread at a time
  std::optional<std::uint64_t> sequence = {};      ///< where the input has several
};
