// croquis variance: error and variance of random features against norm and number of features.
#pragma once

#include <string>

#include "results/run.hpp"

struct VarianceOptions {
  RunOptions run;
  std::string q, k;   ///< .npy files of queries and keys; without them points on spheres
  std::string norms;  ///< factors on unit vectors, or on the files' rows; empty: 1 ... 6, or 1
  std::string maps = "prf", projections = "iid", features = "4:1024";
  long long p = 64, keys = 1024, queries = 0, trials = 20;  ///< queries 0: 1 on spheres, at most 64 of a file's

  std::uint64_t seed() const { return run.seed; }
};

/// Runs the measurement: rows, meta file, tables and a plot. Returns the exit status.
int run_variance(VarianceOptions options);
