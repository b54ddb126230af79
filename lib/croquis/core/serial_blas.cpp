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

thread_local int depth_of_thread = 0;
std::mutex blas_gate;    // of the two below
int threads_inside = 0;  // with a SerialBlas
int number_of_host = 0;  // what OpenBLAS is given back when the last one has left

}  // namespace

SerialBlas::SerialBlas() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
  if (!has_own_threads() || depth_of_thread++ > 0) return;
  const std::lock_guard lock(blas_gate);
  if (threads_inside++ > 0) return;
  number_of_host = openblas_get_num_threads();
  openblas_set_num_threads(1);
}

SerialBlas::~SerialBlas() {
  if (before_ != 1) omp_set_num_threads(before_);
  if (!has_own_threads() || --depth_of_thread > 0) return;
  const std::lock_guard lock(blas_gate);
  if (--threads_inside == 0) openblas_set_num_threads(number_of_host);
}

}  // namespace croquis
