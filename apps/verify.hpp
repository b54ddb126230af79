// croquis verify: the claims ledger.
#pragma once

#include <optional>
#include <string>

#include "input.hpp"
#include "results/run.hpp"

struct VerifyOptions {
  RunOptions run;
  InputOptions input;
  bool own_input = false;      ///< check on `input`, not on the default inputs
  std::string claims = "all";  ///< all, or ids and globs between commas
  double confidence = 1 - 1e-6;
  std::optional<long long> trials;
  bool quick = false, mutants = false, markdown = false;
  std::string explain;  ///< id of the claim to explain
  std::string expect;   ///< file of expected verdicts
};

/// Exit status 1: a claim came out other than the file of --expect says.
inline constexpr int kUnexpectedVerdict = 1;

/// Decides the claims: rows, meta file, table and plot. Returns the exit status.
int run_verify(VerifyOptions options);

/// croquis list claims.
void print_claims();
