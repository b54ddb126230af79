#include "support/process.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace {

// In the child, between fork and exec.
[[noreturn]] void become(const std::vector<char*>& arguments, const std::string& folder,
                         const ProcessSettings& settings, int output) {
  constexpr int failed = 127;
  const auto limit = [](int resource, const std::optional<std::size_t>& most) {
    const rlimit both{most.value_or(0), most.value_or(0)};
    if (most && ::setrlimit(static_cast<__rlimit_resource_t>(resource), &both) != 0) ::_exit(failed);
  };
  limit(RLIMIT_FSIZE, settings.largest_file);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which map terabytes
  limit(RLIMIT_AS, settings.memory);
#endif
  limit(RLIMIT_STACK, settings.stack);
  limit(RLIMIT_CPU, settings.seconds);
  limit(RLIMIT_CORE, 0);
  for (const auto& [name, value] : settings.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (::chdir(folder.c_str()) != 0) ::_exit(failed);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execv(arguments[0], arguments.data());
  ::_exit(failed);
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                 const ProcessSettings& settings)
    : output_(::memfd_create("output", MFD_CLOEXEC)) {
  std::vector<std::string> all = {CROQUIS_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(all.size() + 1);
  for (std::string& argument : all) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const std::string path = folder.string();
  id_ = ::fork();
  if (id_ < 0 || output_ < 0) throw std::runtime_error("no process");
  if (id_ == 0) become(pointers, path, settings, output_);
}

Process::~Process() {
  if (id_ > 0) {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  ::close(output_);
}

void Process::send(int signal) const {
  if (id_ > 0) ::kill(id_, signal);
}

ProgramRun Process::wait() {
  int status = 0;
  rusage usage{};
  if (::wait4(id_, &status, 0, &usage) != id_) throw std::runtime_error("wait4 failed");
  id_ = -1;
  ProgramRun run;
  run.peak_bytes = static_cast<std::size_t>(usage.ru_maxrss) << 10;
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  char buffer[4096];
  ::lseek(output_, 0, SEEK_SET);
  for (ssize_t count = 0; (count = ::read(output_, buffer, sizeof buffer)) > 0;) {
    run.output.append(buffer, static_cast<std::size_t>(count));
  }
  return run;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

ProgramRun run_process(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                       const ProcessSettings& settings) {
  return Process(arguments, folder, settings).wait();
}
