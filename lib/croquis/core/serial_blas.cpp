#include <dlfcn.h>
#include <omp.h>

#include <croquis/core/serial_blas.hpp>
#include <mutex>

extern "C" {
int openblas_get_parallel(void);
int openblas_get_num_threads(void);
void openblas_set_num_threads(int);
}

namespace croquis {
namespace {

// OpenBLAS with threads of its own, which all threads of the process share.
constexpr int kPthreadVariant = 1;

bool has_own_threads() {
  static const bool own = openblas_get_parallel() == kPthreadVariant;
  return own;
}

// The functions of the OpenMP runtime that OpenBLAS asks. It is not always the one of this library: Python may have
// loaded OpenBLAS with GCC's runtime, and a library that Clang has compiled brings another.
struct OpenMp {
  int (*threads)() = omp_get_max_threads;
  void (*set_threads)(int) = omp_set_num_threads;
};

// Looks for them as the dynamic linker does: in what all of the process sees, then in what OpenBLAS has brought.
OpenMp openmp_of_blas() {
  Dl_info blas;
  const char* file = dladdr(reinterpret_cast<void*>(&openblas_get_parallel), &blas) != 0 ? blas.dli_fname : "";
  for (void* library : {dlopen(nullptr, RTLD_LAZY), dlopen(file, RTLD_LAZY | RTLD_NOLOAD)}) {
    if (library == nullptr) continue;
    void *const threads = dlsym(library, "omp_get_max_threads"), *const set = dlsym(library, "omp_set_num_threads");
    if (threads == nullptr || set == nullptr) continue;
    return {reinterpret_cast<int (*)()>(threads), reinterpret_cast<void (*)(int)>(set)};
  }
  return {};  // linked into one file
}

const OpenMp& openmp() {
  static const OpenMp of_blas = openmp_of_blas();
  return of_blas;
}

// When the library is loaded: what is loaded for all later is not what OpenBLAS has been bound to.
[[maybe_unused]] const OpenMp& at_load = openmp();

thread_local int depth_of_thread = 0;
std::mutex blas_gate;    // of the two below
int threads_inside = 0;  // with a SerialBlas
int number_of_host = 0;  // what OpenBLAS is given back when the last one has left

}  // namespace

SerialBlas::SerialBlas() : before_(openmp().threads()) {
  if (before_ != 1) openmp().set_threads(1);
  if (!has_own_threads() || depth_of_thread++ > 0) return;
  const std::lock_guard lock(blas_gate);
  if (threads_inside++ > 0) return;
  number_of_host = openblas_get_num_threads();
  openblas_set_num_threads(1);
}

SerialBlas::~SerialBlas() {
  if (before_ != 1) openmp().set_threads(before_);
  if (!has_own_threads() || --depth_of_thread > 0) return;
  const std::lock_guard lock(blas_gate);
  if (--threads_inside == 0) openblas_set_num_threads(number_of_host);
}

}  // namespace croquis
