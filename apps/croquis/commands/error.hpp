// croquis error: error against number of features.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "files/run_options.hpp"
#include "options/input.hpp"

struct ErrorOptions {
  RunOptions run;
  InputOptions input;
  std::string methods = "all";
  std::string features = "16:256";
  long long trials = 20;
  bool scores = false;            ///< measure the error of the score matrix too
  bool row_errors = false;        ///< measure the errors of single rows too
  bool bounds = false;            ///< what theorems guarantee stands beside what is measured
  std::string save_output;        ///< a folder for the outputs; empty: they are not kept
  bool by_rows = false;           ///< tokens divided over the ranks
  std::optional<long long> rows;  ///< so many random rows of the exact output stand for all

  /// Those that add columns.
  std::set<std::string> columns() const;
};
