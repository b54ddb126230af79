#include "support/program.hpp"

#include <sys/wait.h>

#include <cstdio>
#include <stdexcept>

ProgramRun run_croquis(const std::string& arguments, const std::filesystem::path& folder) {
  const std::string command = "cd '" + folder.string() + "' && " CROQUIS_PROGRAM " " + arguments + " 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed");
  ProgramRun run;
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) run.output.append(buffer, count);
  const int status = ::pclose(pipe);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}
