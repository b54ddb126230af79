// croquis error: error against number of features.
#pragma once

#include <optional>
#include <string>

#include "input.hpp"
#include "results/run.hpp"

struct ErrorOptions {
  RunOptions run;
  InputOptions input;
  std::string methods = "all";
  std::string features = "16:256";
  long long trials = 20;
  bool scores = false;            ///< measure the error of the score matrix too
  bool by_rows = false;           ///< tokens divided over the ranks
  std::optional<long long> rows;  ///< so many random rows of the exact output stand for all
};

/// Runs the sweep: rows, meta file, summary and plot. Returns the exit status: 0, or 128 + the signal that stopped it.
int run_error(ErrorOptions options);
