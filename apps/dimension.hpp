// croquis dimension: statistical dimension of the lift, and the landmarks that Skyformer's Theorem 2 asks for.
#pragma once

#include <string>

#include "input.hpp"
#include "results/run.hpp"

struct DimensionOptions {
  RunOptions run;
  InputOptions input;
  std::string n;                          ///< tokens, a list; empty: 256,512,1024, or the size of the arrays
  std::string norms;                      ///< of synthetic inputs, a list; empty: their default
  std::string widths = "1";               ///< factors on the bandwidth p^{1/4}
  std::string epsilons = "0.01,0.1,0.5";  ///< lambda = epsilon ||C||
  double delta = 0.1;                     ///< probability of failure of the theorem
  long long trials = 20;                  ///< draws for the d that suffices; 0: none
  std::string method = "auto";            ///< dense, lanczos, or auto: lanczos above 2n = 8192 points
  long long leading = 128, probes = 16;   ///< of lanczos
};

/// Runs the measurement: rows, meta file, summary and plot. Returns the exit status.
int run_dimension(DimensionOptions options);
