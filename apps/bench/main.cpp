// croquis_bench: Google Benchmark's command line, for the pieces, sketches and methods of the library and for the same
// work done plainly by Armadillo and FFTW.
#include <benchmark/benchmark.h>

#include "attention.hpp"
#include "results/environment.hpp"

int main(int argc, char** argv) {
  prepare_threads(1);  // BLAS on one thread, as in the program; the library's own loops use all processors
  benchmark::AddCustomContext("environment", environment_text());
  register_methods<float>();
  register_methods<double>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
