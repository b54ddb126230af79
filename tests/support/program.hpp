// Runs the croquis program as a user does.
#pragma once

#include <filesystem>
#include <string>

struct ProgramRun {
  int status = -1;
  std::string output;  ///< standard output and standard error
};

/// croquis ARGUMENTS in the folder, through the shell.
ProgramRun run_croquis(const std::string& arguments, const std::filesystem::path& folder);

/// A fresh folder under the system's temporary one, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);
