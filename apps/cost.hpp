// croquis cost: time, peak memory and flops against n and d.
#pragma once

#include <optional>
#include <string>

#include "results/run.hpp"

struct CostOptions {
  RunOptions run;
  std::string methods = "all", n = "1024:8192", features = "64", bias;
  bool causal = false;
  long long p = 64, repeats = 7, warmup = 1;
  std::optional<long long> exact_to;  ///< the largest n at which exact attention is timed; all of them without it
};

/// Runs the measurement, one call at a time on all threads. Returns the exit status.
/// Throws std::invalid_argument in a build without optimisation, whose times nobody wants.
int run_cost(CostOptions options);
