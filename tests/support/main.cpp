// Test runner: doctest's, with --seed N|any for the statistical tests.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <omp.h>

#include <cstring>
#include <random>
#include <string>

#include "support/blas_watch.hpp"
#include "support/seed.hpp"

namespace {
std::uint64_t chosen_seed = 20261121;
}

std::uint64_t test_seed() {
  return chosen_seed;
}

int main(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--seed") != 0) continue;
    const std::string value = argv[i + 1];
    if (value == "any") {
      std::random_device device;
      chosen_seed = device() | static_cast<std::uint64_t>(device()) << 32;
    } else {
      chosen_seed = std::stoull(value);
    }
  }
  fmt::print("seed {}\n", chosen_seed);
  if (start_blas_watch != nullptr) {
    start_blas_watch();
    const int status = doctest::Context(argc, argv).run();
    return report_blas_watch() > 0 ? 1 : status;
  }
  // The matrices are small, and the threads of BLAS wait busily: on a loaded machine that takes a hundred times as
  // long.
  omp_set_num_threads(1);
  return doctest::Context(argc, argv).run();
}
