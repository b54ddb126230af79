// A page of results: one file, for which nothing is loaded from elsewhere.
#pragma once

#include <string>
#include <vector>

#include "report/section.hpp"

/// A result and how it came to be.
struct ReportedFile {
  std::string path, command, summary;  ///< the CSV, the command that wrote it and what that does
  std::size_t rows = 0;
  Section section;
  bool changed = false;  ///< since its run has written it
};

/// The page. Its content policy names the hashes of its script and of its style and forbids all else. What is run is
/// read from X.meta.json beside X.csv, where there is one. All text of the files is escaped.
std::string html_of_report(const std::vector<ReportedFile>& files, const std::string& title);
