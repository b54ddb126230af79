// A number of threads for the length of a scope.
#pragma once

#include <omp.h>

#include <croquis/core/threads.hpp>

enum class Blas {
  serial,  ///< one thread, as the test runner has it
  free     ///< all processors, as in a program that says nothing
};

class ThreadCount {
 public:
  explicit ThreadCount(int count, Blas blas = Blas::serial) : before_(omp_get_max_threads()) {
    croquis::set_threads(count);
    omp_set_num_threads(blas == Blas::serial ? 1 : omp_get_num_procs());
  }
  ~ThreadCount() {
    croquis::set_threads(0);
    omp_set_num_threads(before_);
  }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};
