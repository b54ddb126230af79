// A small run of croquis error whose files are tried, and what is checked of it.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/text.hpp"

inline const std::string kSmallGivenFiles = "error --input gaussian --n 32 --p 4 --methods v-mean,skyformer --quiet ";
inline const std::string kTrials = "--features 8,16 --trials 3 ";

/// The program says one line with this in it, and its status is 2.
inline void check_refused(const TemporaryFolder& folder, const std::string& arguments, const std::string& reason) {
  CAPTURE(arguments);
  check_refused(run_process(words(arguments), folder.path(), {.seconds = 10}), reason);
}

inline void check_done(const TemporaryFolder& folder, const std::string& arguments) {
  const ProgramRun run = run_process(words(arguments), folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
}

inline std::vector<std::string> lines_in(const std::filesystem::path& file) {
  return lines_of(read_text(file));
}

inline void write_lines(const std::filesystem::path& file, const std::vector<std::string>& lines) {
  write_text(file, fmt::format("{}\n", fmt::join(lines, "\n")));
}
