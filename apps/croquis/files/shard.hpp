// A fixed part of the cells of a run.
#pragma once

#include <cstddef>
#include <string>

/// Part i of N: the cells at places i, i + N, i + 2N, ... of the run's order. Trials of one method and d, which cost
/// the same, are neighbours there, so that the parts do.
struct Shard {
  std::size_t index = 1, count = 1;

  bool has(std::size_t cell) const { return cell % count == index - 1; }
};

/// "i/N", i from 1 to N; all of it when empty. Throws std::invalid_argument for anything else.
Shard parse_shard(const std::string& text);
