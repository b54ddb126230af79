// The croquis program as a process of its own: to be killed, limited, or run beside another.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/program.hpp"

/// For ProcessSettings::largest_file. LLVM's OpenMP, which Clang links, makes a file of 1 KiB before main() begins.
#ifdef __clang__
inline constexpr std::size_t kSmallestFile = 1024;
#else
inline constexpr std::size_t kSmallestFile = 1;
#endif

struct ProcessSettings {
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< beside the test's own
  std::optional<std::size_t> largest_file = {};                       ///< bytes that it may write to one file
  std::optional<std::size_t> memory = {};                             ///< bytes of address space
  std::optional<std::size_t> stack = {};                              ///< bytes of the main thread's
  std::optional<std::size_t> seconds = {};                            ///< of processor time
};

class Process {
 public:
  /// croquis with these arguments, in the folder; no shell, so that an argument may be any bytes.
  Process(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
          const ProcessSettings& settings = {});
  /// Kills it if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void send(int signal) const;
  /// Status (128 + the signal that ended it) and output, once it has ended.
  ProgramRun wait();

 private:
  pid_t id_ = -1;
  int output_ = -1;
};

/// The arguments in a line, split at spaces.
std::vector<std::string> words(const std::string& line);

/// Starts the program and waits.
ProgramRun run_process(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                       const ProcessSettings& settings = {});
