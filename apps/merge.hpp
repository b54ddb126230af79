// croquis merge: the parts of a run with --shard as one result.
#pragma once

#include <string>
#include <vector>

struct MergeOptions {
  std::string out;
  std::vector<std::string> parts;  ///< CSV files, each with its meta file beside it
  bool overwrite = false;
};

/// Checks that the parts are all shards of one run, finished, and writes what that run would have written in one go:
/// rows in their order, meta file, summary. Returns the exit status. Throws std::invalid_argument, before anything is
/// written, when something is missing, double or does not fit.
int run_merge(const MergeOptions& options);
