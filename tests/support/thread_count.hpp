// A number of threads of the library for the length of a scope.
#pragma once

#include <croquis/core/threads.hpp>

class ThreadCount {
 public:
  explicit ThreadCount(int count) { croquis::set_threads(count); }
  ~ThreadCount() { croquis::set_threads(0); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
};
