// Single-threaded kernels on arrays that stay in cache.
#include <croquis/linalg/gemm.hpp>
#include <croquis/linalg/hadamard.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/random/draws.hpp>
#include <vector>

#include "bench.hpp"

namespace {

constexpr std::size_t kCount = 4096;

template <typename T>
void exponentials(benchmark::State& state) {
  const arma::Mat<T> x = bench::normals<T>(kCount, 1, "x");
  arma::Mat<T> y(kCount, 1);
  for (auto _ : state) {
    std::copy_n(x.memptr(), kCount, y.memptr());
    benchmark::DoNotOptimize(croquis::exp_shifted(y.memptr(), kCount, T(1)));
  }
  bench::set_rate(state, "exps", kCount);
}
BENCHMARK_TEMPLATE(exponentials, float);
BENCHMARK_TEMPLATE(exponentials, double);

// The rate that floors are taken with.
template <typename T>
void tiles(benchmark::State& state) {
  constexpr arma::uword m = 64, n = 120, k = croquis::kNarrowTerms<T>;
  const arma::Mat<T> a = bench::normals<T>(m, k, "a"), b = bench::normals<T>(k, n, "b");
  arma::Mat<T> c(m, n);
  for (auto _ : state) {
    croquis::narrow_gemm(CblasNoTrans, m, n, k, T(1), a.memptr(), b.memptr(), k, T(0), c.memptr(), m);
    benchmark::ClobberMemory();
  }
  bench::set_rate(state, "flops", 2.0 * m * n * k);
}
BENCHMARK_TEMPLATE(tiles, float);
BENCHMARK_TEMPLATE(tiles, double);

template <typename T>
void logarithms(benchmark::State& state) {
  const arma::Mat<T> x = arma::square(bench::normals<T>(kCount, 1, "x")) + T(0.1);
  arma::Mat<T> y(kCount, 1);
  for (auto _ : state) {
    std::copy_n(x.memptr(), kCount, y.memptr());
    croquis::logarithm(y.memptr(), kCount);
    benchmark::ClobberMemory();
  }
  bench::set_rate(state, "logs", kCount);
}
BENCHMARK_TEMPLATE(logarithms, float);
BENCHMARK_TEMPLATE(logarithms, double);

template <typename T>
void sines_and_cosines(benchmark::State& state) {
  const arma::Mat<T> x = 100 * bench::normals<T>(kCount, 1, "x");
  arma::Mat<T> s(kCount, 1), c(kCount, 1);
  for (auto _ : state) {
    croquis::sine_cosine(x.memptr(), kCount, s.memptr(), c.memptr());
    benchmark::ClobberMemory();
  }
  bench::set_rate(state, "pairs", kCount);
}
BENCHMARK_TEMPLATE(sines_and_cosines, float);
BENCHMARK_TEMPLATE(sines_and_cosines, double);

template <typename T>
void normals(benchmark::State& state) {
  std::vector<T> z(kCount);
  const croquis::Key draw_key(1);
  std::uint64_t first = 0;
  for (auto _ : state) {
    croquis::fill_normal(draw_key, first, kCount, z.data());
    first += kCount;
    benchmark::ClobberMemory();
  }
  bench::set_rate(state, "normals", kCount);
}
BENCHMARK_TEMPLATE(normals, float);
BENCHMARK_TEMPLATE(normals, double);

template <typename T>
void signs(benchmark::State& state) {
  std::vector<T> s(kCount);
  const croquis::Key draw_key(1);
  std::uint64_t first = 0;
  for (auto _ : state) {
    croquis::fill_signs(draw_key, first, kCount, T(1), s.data());
    first += kCount;
    benchmark::ClobberMemory();
  }
  bench::set_rate(state, "signs", kCount);
}
BENCHMARK_TEMPLATE(signs, float);
BENCHMARK_TEMPLATE(signs, double);

template <typename T>
void hadamard(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(0));
  std::vector<T> x(n, T(0));
  for (auto _ : state) {
    croquis::hadamard_transform(x.data(), n);
    benchmark::ClobberMemory();
  }
  bench::set_rate(state, "additions", static_cast<double>(n) * std::log2(static_cast<double>(n)));
}
BENCHMARK_TEMPLATE(hadamard, float)->Arg(4096)->Arg(65536);
BENCHMARK_TEMPLATE(hadamard, double)->Arg(4096)->Arg(65536);

}  // namespace
