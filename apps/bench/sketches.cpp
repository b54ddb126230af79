// S^T M for M (n x k), n = 65536, d = 256; gemm alone with S given; and the same done by Armadillo and FFTW.
#include <fftw3.h>

#include <croquis/core/threads.hpp>
#include <croquis/sketch/gaussian.hpp>
#include <croquis/sketch/rademacher.hpp>
#include <croquis/sketch/sjlt.hpp>
#include <croquis/sketch/sparse_stack.hpp>
#include <croquis/sketch/srct.hpp>
#include <croquis/sketch/srht.hpp>
#include <croquis/sketch/uniform_sampling.hpp>

#include "bench.hpp"

namespace {

using croquis::Key;

constexpr arma::uword kRows = 65536, kDirections = 256;

template <typename T, typename Make>
void left(benchmark::State& state, const Make& make) {
  const auto k = static_cast<arma::uword>(state.range(0));
  const arma::Mat<T> m = bench::normals<T>(kRows, k, "m");
  for (auto _ : state) benchmark::DoNotOptimize(make(Key(1)).left(m));
}

template <typename T>
void gaussian(benchmark::State& state) {
  left<T>(state, [](const Key& s) { return croquis::GaussianSketch(kRows, kDirections, s); });
  bench::set_rate(state, "flops", 2.0 * kRows * kDirections * static_cast<double>(state.range(0)));
}
template <typename T>
void rademacher(benchmark::State& state) {
  left<T>(state, [](const Key& s) { return croquis::RademacherSketch(kRows, kDirections, s); });
}
template <typename T>
void sjlt(benchmark::State& state) {
  constexpr arma::uword nonzeros = 8;
  left<T>(state, [](const Key& s) { return croquis::SjltSketch(kRows, kDirections, nonzeros, s); });
}
template <typename T>
void sparse_stack(benchmark::State& state) {
  constexpr arma::uword nonzeros = 8;
  left<T>(state, [](const Key& s) { return croquis::SparseStack(kRows, kDirections, nonzeros, s); });
}
template <typename T>
void srht(benchmark::State& state) {
  left<T>(state, [](const Key& s) { return croquis::SrhtSketch(kRows, kDirections, s); });
}
template <typename T>
void srct(benchmark::State& state) {
  left<T>(state, [](const Key& s) { return croquis::SrctSketch(kRows, kDirections, s); });
}
template <typename T>
void uniform_sampling(benchmark::State& state) {
  left<T>(state, [](const Key& s) { return croquis::UniformSampling(kRows, kDirections, s); });
}

// The floor of a dense sketch: both products by blocks of rows, the halves on two threads.
template <typename T>
void gemm_alone(benchmark::State& state) {
  constexpr arma::uword parts = 16, rows = kRows / parts;
  const auto k = static_cast<arma::uword>(state.range(0));
  const arma::Mat<T> m = bench::normals<T>(kRows, k, "m"), s = bench::normals<T>(kRows, kDirections, "s");
  std::vector<arma::Mat<T>> sums(parts);
  for (auto _ : state) {
    croquis::parallel_for(parts, [&](std::size_t i) {
      sums[i] = m.rows(i * rows, (i + 1) * rows - 1).t() * s.rows(i * rows, (i + 1) * rows - 1);
    });
    for (std::size_t i = 1; i < parts; ++i) sums[0] += sums[i];
    benchmark::ClobberMemory();
  }
  bench::set_rate(state, "flops", 2.0 * kRows * kDirections * static_cast<double>(k));
}

template <typename T>
void armadillo_randn(benchmark::State& state) {
  const arma::Mat<T> m = bench::normals<T>(kRows, static_cast<arma::uword>(state.range(0)), "m");
  for (auto _ : state) {
    const arma::Mat<T> s = arma::randn<arma::Mat<T>>(kDirections, kRows);
    benchmark::DoNotOptimize(arma::Mat<T>(s * m));
  }
}

// The transform of an SRCT by FFTW's own DCT-II, planned with ESTIMATE, a column a call, on two threads.
void fftw_cosines(benchmark::State& state) {
  const auto k = static_cast<arma::uword>(state.range(0));
  const arma::fmat m = bench::normals<float>(kRows, k, "m");
  arma::fmat x = m;
  fftwf_plan plan =
      fftwf_plan_r2r_1d(static_cast<int>(kRows), x.memptr(), x.memptr(), FFTW_REDFT10, FFTW_ESTIMATE | FFTW_UNALIGNED);
  for (auto _ : state) {
    croquis::parallel_for(k, [&](std::size_t c) {
      std::copy_n(m.colptr(c), kRows, x.colptr(c));
      fftwf_execute_r2r(plan, x.colptr(c), x.colptr(c));
    });
    benchmark::ClobberMemory();
  }
  fftwf_destroy_plan(plan);
}

// NOLINTBEGIN: Google Benchmark's macros
#define CROQUIS_BENCH(name)                                                   \
  BENCHMARK_TEMPLATE(name, float)->Arg(64)->Arg(512)->Apply(bench::by_clock); \
  BENCHMARK_TEMPLATE(name, double)->Arg(64)->Arg(512)->Apply(bench::by_clock)
// NOLINTEND
CROQUIS_BENCH(gaussian);
CROQUIS_BENCH(rademacher);
CROQUIS_BENCH(gemm_alone);
CROQUIS_BENCH(armadillo_randn);
CROQUIS_BENCH(sjlt);
CROQUIS_BENCH(sparse_stack);
CROQUIS_BENCH(srht);
CROQUIS_BENCH(srct);
CROQUIS_BENCH(uniform_sampling);
BENCHMARK(fftw_cosines)->Arg(64)->Apply(bench::by_clock);

}  // namespace
