// The heads that a command works on at a time, of many that are not in memory together.
#pragma once

#include <croquis/attention/problem.hpp>
#include <map>

#include "options/input.hpp"

/// As many heads as there are threads: enough for a cell on each.
class HeadsInMemory {
 public:
  /// Forgets those before.
  void begin(const Input& first);
  /// Whether the head is one of them; no once there are as many as threads.
  bool add(const Input& input);
  /// Reads or computes all of them. Throws std::invalid_argument for a file that has changed.
  void load();
  /// For any thread, of a head that was added.
  const croquis::Problem<double>& problem(const Input& input) const { return *heads_.at(&input); }

 private:
  std::map<const Input*, std::optional<croquis::Problem<double>>> heads_;
};
