// croquis spectrum: singular values of score matrices and outputs.
#pragma once

#include <string>

#include "input.hpp"
#include "results/run.hpp"

struct SpectrumOptions {
  RunOptions run;
  InputOptions input;
  std::string matrices = "all";  ///< of a, b, c, bv, cv
  std::string method = "auto";   ///< dense, lanczos, or auto: lanczos for n x n matrices above n = 4096
  long long leading = 128;       ///< singular values that lanczos finds
  long long probes = 16;         ///< random vectors for the sum of the others
};

/// Runs the measurement over all heads of the input: rows, meta file, summary and plot. Returns the exit status.
int run_spectrum(SpectrumOptions options);
