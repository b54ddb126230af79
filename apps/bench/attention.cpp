// Exact attention and every method of the registry on Gaussian Q, K, V with p = 64: name/n/d.
#include <fmt/format.h>

#include <algorithm>
#include <croquis/attention/bfloat16.hpp>
#include <croquis/attention/exact.hpp>
#include <croquis/attention/exact_adjoint.hpp>
#include <croquis/attention/method.hpp>
#include <croquis/kernel/softmax.hpp>
#include <croquis/linalg/products.hpp>
#include <map>
#include <string>
#include <utility>

#include "attention.hpp"
#include "bench.hpp"

namespace {

using croquis::Key;
using croquis::Problem;

constexpr arma::uword kWidth = 64;

template <typename T>
Problem<T> problem_of(arma::uword n, bool with_position, bool causal = false) {
  const auto draw = [n](const char* name) { return bench::normals<T>(n, kWidth, name); };
  croquis::RelativePosition<T> position{.bias = {}, .causal = causal};
  if (with_position) position.bias = T(0.1) * bench::normals<T>(2 * n - 1, 1, "bias");
  return Problem<T>(draw("q"), draw("k"), draw("v"), {}, position);
}

template <typename T>
void exact(benchmark::State& state) {
  const auto n = static_cast<double>(state.range(0));
  const Problem<T> problem = problem_of<T>(static_cast<arma::uword>(state.range(0)), false);
  for (auto _ : state) benchmark::DoNotOptimize(croquis::exact_attention(problem, croquis::Target::softmax));
  bench::set_rate(state, "flops", 4 * n * n * kWidth);
  bench::set_rate(state, "exps", n * n);
}
BENCHMARK_TEMPLATE(exact, float)->Arg(4096)->Arg(16384)->Apply(bench::by_clock);
BENCHMARK_TEMPLATE(exact, double)->Arg(4096)->Arg(16384)->Apply(bench::by_clock);

// The same under a causal mask: half the pairs.
template <typename T>
void exact_causal(benchmark::State& state) {
  const auto n = static_cast<double>(state.range(0));
  const Problem<T> problem = problem_of<T>(static_cast<arma::uword>(state.range(0)), false, true);
  for (auto _ : state) benchmark::DoNotOptimize(croquis::exact_attention(problem, croquis::Target::softmax));
  bench::set_rate(state, "flops", 2 * n * (n + 1) * kWidth);
  bench::set_rate(state, "exps", n * (n + 1) / 2);
}
BENCHMARK_TEMPLATE(exact_causal, float)->Arg(4096)->Arg(16384)->Apply(bench::by_clock);
BENCHMARK_TEMPLATE(exact_causal, double)->Arg(4096)->Arg(16384)->Apply(bench::by_clock);

// The same with queries and keys rounded to bfloat16.
void bfloat16(benchmark::State& state) {
  const auto n = static_cast<double>(state.range(0));
  const Problem<float> problem = problem_of<float>(static_cast<arma::uword>(state.range(0)), false);
  for (auto _ : state) benchmark::DoNotOptimize(croquis::bfloat16(problem));
  bench::set_rate(state, "flops", 4 * n * n * kWidth);
  bench::set_rate(state, "exps", n * n);
}
BENCHMARK(bfloat16)->Arg(4096)->Arg(16384)->Apply(bench::by_clock);

// Its adjoint alone, the output and the row sums being there.
template <typename T>
void exact_adjoint(benchmark::State& state) {
  const auto n = static_cast<double>(state.range(0));
  const Problem<T> problem = problem_of<T>(static_cast<arma::uword>(state.range(0)), false);
  const auto forward = croquis::exact_attention(problem, croquis::Target::softmax);
  const arma::Mat<T> cotangent = bench::normals<T>(problem.n_q(), kWidth, "g");
  for (auto _ : state) {
    benchmark::DoNotOptimize(croquis::exact_gradient(problem, croquis::Target::softmax, forward, cotangent));
  }
  bench::set_rate(state, "flops", 10 * n * n * kWidth);
}
BENCHMARK_TEMPLATE(exact_adjoint, float)->Arg(4096)->Apply(bench::by_clock);
BENCHMARK_TEMPLATE(exact_adjoint, double)->Arg(4096)->Apply(bench::by_clock);

// softmax(Q K^T / sqrt(p)) V with n x n in memory, as one writes it with Armadillo.
template <typename T>
void armadillo_exact(benchmark::State& state) {
  const Problem<T> problem = problem_of<T>(static_cast<arma::uword>(state.range(0)), false);
  for (auto _ : state) {
    arma::Mat<T> a = problem.Q() * problem.K().t() / std::sqrt(T(kWidth));
    a.each_col() -= arma::max(a, 1);
    a = arma::exp(a);
    a.each_col() /= arma::sum(a, 1);
    benchmark::DoNotOptimize(arma::Mat<T>(a * problem.V()));
  }
}
BENCHMARK_TEMPLATE(armadillo_exact, float)->Arg(4096)->Apply(bench::by_clock);
BENCHMARK_TEMPLATE(armadillo_exact, double)->Arg(4096)->Apply(bench::by_clock);

// Linformer with E there already, as a trained model has it: softmax(Q (E K)^T / sqrt(p)) (E V).
template <typename T>
void linformer_given(benchmark::State& state) {
  const auto n = static_cast<arma::uword>(state.range(0)), d = static_cast<arma::uword>(state.range(1));
  const Problem<T> problem = problem_of<T>(n, false);
  const arma::Mat<T> e = T(0.02) * bench::normals<T>(d, n, "e");
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        croquis::softmax_product<T>(problem.Q(), croquis::product(e, problem.K()), croquis::product(e, problem.V())));
  }
  bench::set_rate(state, "flops", 8.0 * static_cast<double>(n * d) * kWidth);
}
BENCHMARK_TEMPLATE(linformer_given, float)->ArgsProduct({{4096, 16384}, {64, 256}})->Apply(bench::by_clock);

template <typename T>
void run_method(benchmark::State& state, const croquis::Method<T>& method, const croquis::OptionValues& options) {
  const auto n = static_cast<arma::uword>(state.range(0)), d = static_cast<arma::uword>(state.range(1));
  const Problem<T> problem = problem_of<T>(n, croquis::has_position(method.target));
  double flops = 0;
  std::uint64_t trial = 0;
  try {
    for (auto _ : state) {
      const croquis::PreparedMethod<T> prepared = croquis::prepare(method, problem, options);
      benchmark::DoNotOptimize(prepared.approximate(d, Key(1).child(trial++)));
      flops = prepared.flops(static_cast<double>(d));
    }
  } catch (const std::exception& failure) {
    state.SkipWithError(failure.what());
  }
  bench::set_rate(state, "flops", flops);
}

template <typename T>
void run_adjoint(benchmark::State& state, const croquis::Method<T>& method) {
  const auto n = static_cast<arma::uword>(state.range(0)), d = static_cast<arma::uword>(state.range(1));
  const Problem<T> problem = problem_of<T>(n, croquis::has_position(method.target));
  const arma::Mat<T> cotangent = bench::normals<T>(n, kWidth, "g");
  const croquis::Approximation<T> approximation = croquis::prepare(method, problem).approximate(d, Key(1));
  for (auto _ : state) benchmark::DoNotOptimize(approximation.adjoint(cotangent));
}

template <typename T>
void add_adjoint(const croquis::Method<T>& method) {
  const std::string name = fmt::format("adjoint<{}>/{}", bench::precision<T>(), method.name);
  auto* benchmark =
      benchmark::RegisterBenchmark(name.c_str(), [&method](benchmark::State& state) { run_adjoint<T>(state, method); });
  for (const long d : {64, 128}) benchmark->Args({4096, d});
  bench::by_clock(benchmark);
}

template <typename T>
void add(const croquis::Method<T>& method, const std::string& suffix, const croquis::OptionValues& options) {
  const std::string name = fmt::format("method<{}>/{}{}", bench::precision<T>(), method.name, suffix);
  auto* benchmark = benchmark::RegisterBenchmark(
      name.c_str(), [&method, options](benchmark::State& state) { run_method<T>(state, method, options); });
  for (const long n : {4096, 16384}) {
    for (const long d : {16, 32, 64, 128, 256}) benchmark->Args({n, d});
  }
  bench::by_clock(benchmark);
}

}  // namespace

template <typename T>
void register_methods() {
  for (const croquis::Method<T>& method : croquis::methods<T>()) {
    if (method.quadratic({})) continue;  // as slow as exact attention, or slower
    add<T>(method, "", {});
    if (method.adjoint({})) add_adjoint<T>(method);
    // What one does not get by default: the authors' code, and a coreset without check rows.
    for (const auto& [option, value] : {std::pair("preset", "code"), std::pair("mode", "coreset")}) {
      const bool has = std::any_of(method.options.begin(), method.options.end(),
                                   [name = option, wanted = value](const croquis::OptionInfo& o) {
                                     return o.name == name && o.values.find(wanted) != std::string::npos;
                                   });
      if (!has) continue;
      add<T>(method, fmt::format(";{}={}", option, value),
             croquis::OptionValues(std::map<std::string, std::string>{{option, value}}));
    }
  }
}

template void register_methods<float>();
template void register_methods<double>();
