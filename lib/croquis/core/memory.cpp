#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <croquis/core/memory.hpp>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

namespace croquis {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// The first number of a file; "max", no file: unlimited.
double number_in(const std::string& path) {
  double value = 0;
  if (std::ifstream(path) >> value) return value;
  return kUnlimited;
}

// The number behind a name at the beginning of a line; where there is none, `otherwise`.
double number_named(const std::string& path, const std::string& sought, double otherwise) {
  std::ifstream file(path);
  for (std::string name; file >> name; file.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    double value = 0;
    if (name == sought && file >> value) return value;
  }
  return otherwise;
}

double of_machine() {
  constexpr double kilobyte = 1024;
  return number_named("/proc/meminfo", "MemAvailable:", kUnlimited) * kilobyte;
}

double of_process() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const double mapped = number_in("/proc/self/statm") * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - mapped);
}

double of_control_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return available_in_control_group("/sys/fs/cgroup", line.substr(3));  // version 2
  }
  return kUnlimited;
}

}  // namespace

double available_in_control_group(const std::string& root, const std::string& group) {
  double available = kUnlimited;
  for (std::string path = group;; path.resize(path.rfind('/'))) {
    const std::string folder = root + path;
    const double limit = number_in(folder + "/memory.max");
    const double current = number_in(folder + "/memory.current");
    if (limit != kUnlimited && current != kUnlimited) {
      // Files that were read and are not used any more are given back when memory is asked for.
      const double used = current - number_named(folder + "/memory.stat", "inactive_file", 0);
      available = std::min(available, std::max(0.0, limit - used));
    }
    if (path.find('/') == std::string::npos) return available;
  }
}

double available_memory() {
  return std::min({of_machine(), of_process(), of_control_group()});
}

void require_memory(double bytes, std::string_view where, std::initializer_list<Got> sizes) {
  constexpr double always = 1 << 24;  // not worth asking the kernel
  if (bytes <= always) return;
  const double available = available_memory();
  if (bytes <= available) return;
  std::string message = fmt::format("{}: needs {:.0f} bytes, {:.0f} are available", where, bytes, available);
  std::string_view separator = ", for ";
  for (const Got& size : sizes) {
    std::visit([&](const auto& value) { message += fmt::format("{}{} = {}", separator, size.name, value); },
               size.value);
    separator = ", ";
  }
  throw std::invalid_argument(message);
}

std::string reason_of(const std::exception& failure) {
  return dynamic_cast<const std::bad_alloc*>(&failure) != nullptr ? "there is not enough memory" : failure.what();
}

}  // namespace croquis
