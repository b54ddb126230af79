// croquis sketch: sketching operators and landmark policies compared on a matrix.
#pragma once

#include <string>

#include "input.hpp"
#include "results/run.hpp"

struct SketchOptions {
  RunOptions run;
  InputOptions input;
  std::string matrix = "v";  ///< q, k, v, b, c, or an .npy file
  std::string sketches = "all", landmarks = "all";
  std::string features = "16:256";
  long long trials = 20;
  long long rank = 0;  ///< dimension of the subspace that is embedded; 0: all columns, at most 64
};

/// Runs the comparison: rows, meta file, a table and a plot. Returns the exit status.
int run_sketch(SketchOptions options);
