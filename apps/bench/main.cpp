// croquis_bench [--threads=N] [Google Benchmark's options]: times of the pieces, sketches and methods of the library,
// and of the same work done plainly by Armadillo and FFTW.
#include <benchmark/benchmark.h>
#include <croquis/core/kept_memory.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>

#include <string>
#include <string_view>

#include "attention.hpp"
#include "files/environment.hpp"

int main(int argc, char** argv) {
  constexpr std::string_view option = "--threads=";
  if (argc > 1 && std::string_view(argv[1]).starts_with(option)) {
    croquis::set_threads(std::atoi(argv[1] + option.size()));
    argv[1] = argv[0];
    --argc;
    ++argv;
  }
  croquis::keep_freed_memory();  // as the program does
  prepare_threads(croquis::threads());
  const croquis::SerialBlas serial;  // also for what Armadillo does for comparison
  benchmark::AddCustomContext("environment", environment_text());
  benchmark::AddCustomContext("threads", std::to_string(croquis::threads()));
  register_methods<float>();
  register_methods<double>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
