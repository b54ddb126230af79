#include "support/blas_watch.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <cxxabi.h>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

// As omp.h has them, which says more of the first one: what exactly depends on the compiler.
extern "C" {
int omp_get_max_threads();
int omp_in_parallel();
void omp_set_num_threads(int);
}

namespace {

// Is the function at this address one of the library, or a lambda in one? Of the tests, which are in no namespace, none
// is. Their runner exports its symbols for this.
std::string library_function(void* address) {
  Dl_info info;
  if (::dladdr(address, &info) == 0 || info.dli_sname == nullptr) return {};
  const std::string_view name = info.dli_sname;
  for (const char* own : {"_ZN7croquis", "_ZNK7croquis", "_ZZN7croquis", "_ZZNK7croquis"}) {
    if (name.starts_with(own)) return info.dli_sname;
  }
  const bool lambda = name.starts_with("_ZNSt17_Function_handler") &&
                      (name.find("EZN7croquis") != name.npos || name.find("EZNK7croquis") != name.npos);
  return lambda ? info.dli_sname : std::string();
}

std::string readable(const std::string& symbol) {
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = text != nullptr ? text : symbol;
  std::free(text);
  return name;
}

class Watch {
 public:
  bool is_blas(void* caller) {
    const std::lock_guard lock(mutex_);
    const auto [found, added] = blas_.emplace(caller, false);
    if (added) {
      Dl_info info;
      const std::string_view file = ::dladdr(caller, &info) != 0 ? info.dli_fname : "";
      found->second = file.substr(file.rfind('/') + 1).starts_with("libopenblas");
    }
    return found->second;
  }

  // The innermost function of the library among the callers, if any.
  void note_callers() {
    std::array<void*, 64> frames{};
    const int count = ::backtrace(frames.data(), static_cast<int>(frames.size()));
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < count; ++i) {
      const auto [found, added] = functions_.emplace(frames[static_cast<std::size_t>(i)], std::string());
      if (added) found->second = library_function(found->first);
      if (found->second.empty()) continue;
      noted_.insert(found->second);
      return;
    }
  }

  int report() {
    const std::lock_guard lock(mutex_);
    for (const std::string& symbol : noted_)
      fmt::print("BLAS on several threads, no SerialBlas: {}\n", readable(symbol));
    return static_cast<int>(noted_.size());
  }

 private:
  std::mutex mutex_;
  std::map<void*, bool> blas_;              // by where omp_get_max_threads returns to
  std::map<void*, std::string> functions_;  // by where a call returns to
  std::set<std::string> noted_;
};

Watch& watch() {
  static auto* const one = new Watch;  // BLAS may ask before main and after it
  return *one;
}

}  // namespace

int omp_get_max_threads() {
  static auto* const real = reinterpret_cast<int (*)()>(::dlsym(RTLD_NEXT, "omp_get_max_threads"));
  const int threads = real();
  if (!watch().is_blas(__builtin_return_address(0))) return threads;
  if (threads > 1 && omp_in_parallel() == 0) watch().note_callers();
  return 1;
}

void start_blas_watch() {
  omp_set_num_threads(4);
}

int report_blas_watch() {
  return watch().report();
}
