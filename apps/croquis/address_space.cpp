#include "address_space.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <vector>

// OpenBLAS's own, exported but in no header.
extern "C" {
void* blas_memory_alloc(int position);
void blas_memory_free(void* buffer);
}

namespace {

constexpr std::size_t kBuffer = std::size_t{128} << 20;  // of OpenBLAS 0.3 on x86, the most of any platform
constexpr std::size_t kOwn = std::size_t{192} << 20;     // for everything else that starts, generously

bool is_limited() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool has_room(std::size_t bytes) {
  void* const room = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room != MAP_FAILED && ::munmap(room, bytes) == 0;
}

// Before any library has been initialised: system calls alone.
void check_before_blas() {
  if (!is_limited() || has_room(kBuffer + kOwn)) return;
  constexpr std::string_view message =
      "croquis: the limit on the address space (ulimit -v) leaves no room for OpenBLAS; 1000000 kB would do\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(2);
}

// The loader runs this before it initialises the libraries, among them OpenBLAS, which takes its first buffer then.
[[gnu::section(".preinit_array"), gnu::used]] void (*run_before_libraries)() = check_before_blas;

}  // namespace

void reserve_blas_buffers(int threads) {
  if (!is_limited()) return;
  const std::size_t need = static_cast<std::size_t>(threads) * kBuffer + kOwn;
  if (!has_room(need)) {
    throw std::invalid_argument(fmt::format(
        "--threads: the limit on the address space (ulimit -v) leaves no room for OpenBLAS with {} threads; "
        "give fewer, or raise the limit by {} kB",
        threads, need / 1024));
  }
  std::vector<void*> buffers;
  for (int i = 0; i < threads; ++i) buffers.push_back(blas_memory_alloc(0));
  for (void* const buffer : buffers) blas_memory_free(buffer);  // it keeps them for the calls that follow
}
