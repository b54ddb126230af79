// Runs the croquis program as a user does.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/files.hpp"

struct ProgramRun {
  int status = -1;
  std::string output;          ///< standard output and standard error
  std::size_t peak_bytes = 0;  ///< of memory in use, where a process of its own was waited for (support/process.hpp)
};

/// A command of the shell, in the folder; in it $CROQUIS is the program.
ProgramRun run_command(const std::string& command, const std::filesystem::path& folder);

/// croquis ARGUMENTS in the folder, through the shell.
ProgramRun run_croquis(const std::string& arguments, const std::filesystem::path& folder);

/// Checks that a run was refused: exit status 2, and one line, which has these words.
void check_refused(const ProgramRun& run, const std::string& words);

/// The fields of a column of a result.
std::vector<std::string> column_of(const std::filesystem::path& file, const std::string& name);

/// The rows of a result without the measured time; of one input alone, without its name, layer and head.
std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& file);
std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& file, const std::string& input);
