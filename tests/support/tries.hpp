// Command lines that must end in one clear line and status 2, or in sound rows.
#pragma once

#include <string>
#include <vector>

#include "support/process.hpp"

using Arguments = std::vector<std::string>;

struct Try {
  Arguments arguments;
  std::string names;  ///< one of the words that a refusal must have, between |
  bool must_fail = false;
};

/// What check_all() asks of a command line that makes rows: where they are.
inline const std::string kTryOptions = " --threads 1 --quiet --out rows.csv --overwrite";

/// Runs each in a folder of its own within `folder`, beside copies of the files there, with 3 GB and 20 seconds at
/// most.
void check_all(const std::vector<Try>& tries, const TemporaryFolder& folder);
