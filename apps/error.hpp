// croquis error: error against number of features.
#pragma once

#include <cstdint>
#include <string>

#include "input.hpp"
#include "results/row_file.hpp"

/// Options that the experiments have in common.
struct RunOptions {
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  std::string precision = "double";
  std::string out, plot;
  bool quiet = false, resume = false, overwrite = false;
  std::string command_line, configuration;  ///< for the meta file

  Existing existing() const;
};

struct ErrorOptions {
  RunOptions run;
  InputOptions input;
  std::string methods = "all";
  std::string features = "16:256";
  long long trials = 20;
};

/// Runs the sweep: rows, meta file, summary and plot. Returns the exit status: 0, or 128 + the signal that stopped it.
int run_error(ErrorOptions options);
