#include <malloc.h>

#include <croquis/core/peak_memory.hpp>
#include <fstream>
#include <limits>
#include <string>

namespace croquis {
namespace {

// A line "VmHWM:   1234 kB" of /proc/self/status, in bytes; NaN when there is none.
double status_bytes(const std::string& name) {
  constexpr double kilobyte = 1024;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) * kilobyte;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double peak_bytes_of(const std::function<void()>& work) {
  ::malloc_trim(0);
  bool reset = false;
  {
    std::ofstream clear("/proc/self/clear_refs");
    clear << "5";  // sets the peak to what is resident now
    clear.flush();
    reset = static_cast<bool>(clear);
  }
  const double before = resident_bytes();
  work();
  return reset ? status_bytes("VmHWM") - before : std::numeric_limits<double>::quiet_NaN();
}

double peak_bytes() {
  return status_bytes("VmHWM");
}

double resident_bytes() {
  return status_bytes("VmRSS");
}

}  // namespace croquis
