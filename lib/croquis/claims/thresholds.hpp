// What "good", "sufficient" and "acceptable" mean in the claims: fixed before anything is measured, in thresholds.csv.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace croquis::claims {

/// A line of thresholds.csv. A change of the file needs a line in CHANGELOG.md before the run.
struct Threshold {
  std::string claim, quantity;  ///< what it belongs to, and its name there
  double value = 0;
  std::string reason;
};

/// All of them, in the order of the file.
const std::vector<Threshold>& thresholds();

/// The value for a claim. Throws std::invalid_argument, with what there is for the claim, when there is none.
double threshold(std::string_view claim, std::string_view quantity);

/// Of the bytes of the file: every result has it, so that a change shows.
std::string thresholds_digest();

}  // namespace croquis::claims
