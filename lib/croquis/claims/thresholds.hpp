// What decides and sizes the checks beside a proof: fixed before anything is measured, in thresholds.csv.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace croquis::claims {

/// A line of thresholds.csv. A change of the file needs a line in CHANGELOG.md before the run.
struct Threshold {
  std::vector<std::string> claims;  ///< sentences, "lin.thm1", that have it; several between spaces in the file
  std::string reading;              ///< "*": all readings of theirs
  std::string quantity;             ///< its name there; "NAME (quick)" is NAME in quick mode
  std::vector<double> values;       ///< one, or several between spaces in the file
  std::string reason;
};

/// All of them, in the order of the file.
const std::vector<Threshold>& thresholds();

/// The values for a claim, by its id "sentence/reading": the line of the reading, else that of all readings of the
/// sentence; none when there is neither.
const std::vector<double>* find_threshold(std::string_view id, std::string_view quantity);

/// Of the bytes of the file: every result has it, so that a change shows.
std::string thresholds_digest();

}  // namespace croquis::claims
