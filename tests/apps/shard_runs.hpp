// A small run of croquis error, and shards of a command.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "support/program.hpp"

inline const std::string kSmallShards =
    "error --input clustered --n 96 --p 8 --methods v-mean,skyformer,linformer --features 8,16 ";

/// The options of a shard, whose rows are in p1.csv, p2.csv ...
inline std::string shard_of(int i, int n) {
  return fmt::format(" --quiet --shard {}/{} --out p{}.csv", i, n, i);
}

inline void run_shards(const TemporaryFolder& folder, const std::string& command, int n) {
  for (int i = 1; i <= n; ++i) {
    const ProgramRun run = run_croquis(command + shard_of(i, n), folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
  }
}
