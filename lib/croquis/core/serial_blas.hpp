// BLAS and LAPACK on one thread for the length of a scope.
#pragma once

namespace croquis {

/// While a SerialBlas exists, BLAS and LAPACK calls of its thread run on one thread. (On several threads they add in
/// another order, which changes the last bits.) Every function of the library that calls them, also through an
/// Armadillo expression, creates one first, so results do not depend on the number of BLAS threads that the host has
/// chosen. The bodies of parallel_for and gemm() have one already. The destructor restores the host's setting, also
/// when an exception is thrown.
///
/// How this works depends on the variant of OpenBLAS that is loaded:
/// - OpenMP variant: it asks OpenMP for the number of threads of the calling thread, and only that number is set. Other
///   threads of the host keep theirs, whether they are of OpenMP or std::thread.
/// - pthread variant: it has one number for the process. The first SerialBlas of any thread sets it to 1, and the last
///   one restores it. Until then BLAS calls of all threads run on one thread. The host must not call
///   openblas_set_num_threads meanwhile.
/// - serial variant: there is nothing to set. It is not safe to call from several threads: use set_threads(1).
///
/// It must be destroyed by the thread that created it, and may be nested. Cost: some nanoseconds; with the pthread
/// variant also a mutex, for the outermost one of a thread.
class [[nodiscard]] SerialBlas {
 public:
  SerialBlas();
  ~SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;

 private:
  int before_;  // threads of OpenMP that the calling thread had
};

}  // namespace croquis
