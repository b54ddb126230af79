// A number of threads for the length of a scope.
#pragma once

#include <omp.h>

#include <croquis/core/threads.hpp>

/// The library on `count` threads, and BLAS free to use all processors, as it is in a program that says nothing.
class ThreadCount {
 public:
  explicit ThreadCount(int count) : before_(omp_get_max_threads()) {
    croquis::set_threads(count);
    omp_set_num_threads(omp_get_num_procs());
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
