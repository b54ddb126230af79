// Runs the croquis program as a user does.
#pragma once

#include <filesystem>
#include <string>

#include "support/files.hpp"

struct ProgramRun {
  int status = -1;
  std::string output;  ///< standard output and standard error
};

/// croquis ARGUMENTS in the folder, through the shell.
ProgramRun run_croquis(const std::string& arguments, const std::filesystem::path& folder);
