// Thresholds and sizes of the checks: fixed in thresholds.csv before anything is measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace croquis::claims {

/// A line of thresholds.csv. A change of the file needs a line in CHANGELOG.md before the run.
struct Threshold {
  std::vector<std::string> claims;  ///< ids of sentences, as "lin.thm1"; separated by spaces in the file
  std::string reading;              ///< "*": all readings of these sentences
  std::string quantity;             ///< "NAME (quick)" is NAME in quick mode
  std::vector<double> values;       ///< one or more; separated by spaces in the file
  std::string reason;
};

/// All lines of thresholds.csv, in the order of the file.
const std::vector<Threshold>& thresholds();

/// The values for a claim, by its id "sentence/reading": the line of the reading, else that of all readings of the
/// sentence; nullptr when there is neither.
const std::vector<double>* find_threshold(std::string_view id, std::string_view quantity);

/// Digest of the bytes of the file (io/digest.hpp). Every result records it, so that a change is visible.
std::string thresholds_digest();

}  // namespace croquis::claims
