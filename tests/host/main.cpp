// Runner of the tests in which Croquis is a guest: the environment says OMP_NUM_THREADS=4 and nothing else of threads.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  const char* const wanted = "4";
  const char* const given = std::getenv("OMP_NUM_THREADS");
  if (given == nullptr || std::strcmp(given, wanted) != 0) {  // OpenMP has read its environment before main
    ::setenv("OMP_NUM_THREADS", wanted, 1);
    ::unsetenv("OPENBLAS_NUM_THREADS");
    ::execv("/proc/self/exe", argv);
    return 2;
  }
  return doctest::Context(argc, argv).run();
}
