// Shared by the benchmarks: inputs and counters.
#pragma once

#include <benchmark/benchmark.h>

#include <armadillo>
#include <croquis/random/draws.hpp>
#include <string>

namespace bench {

/// "float" or "double", for names.
template <typename T>
std::string precision() {
  return sizeof(T) == sizeof(float) ? "float" : "double";
}

template <typename T>
arma::Mat<T> normals(arma::uword rows, arma::uword cols, std::string_view purpose) {
  arma::Mat<T> m(rows, cols);
  croquis::fill_normal(croquis::Key(1).child(purpose), 0, m.n_elem, m.memptr());
  return m;
}

/// `count` of them an iteration, a second of the clock.
inline void set_rate(benchmark::State& state, const char* name, double count) {
  state.counters[name] = benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate);
}

/// Times of the clock, for the work is done by several threads.
inline void by_clock(benchmark::internal::Benchmark* b) {
  b->UseRealTime()->Unit(benchmark::kMillisecond);
}

}  // namespace bench
