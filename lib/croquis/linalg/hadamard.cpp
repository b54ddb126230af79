#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/linalg/hadamard.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/highway.h>
#include <bit>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/hadamard.hpp>

HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kInCache = 4096;  // entries that are transformed together, before the next ones are read

// H_n for an n that is smaller than the number of lanes of a vector.
template <typename T>
void transform_short(T* x, size_t n) {
  for (size_t h = 1; h < n; h *= 2) {
    for (size_t i = 0; i < n; ++i) {
      if ((i & h) != 0) continue;
      const T a = x[i], b = x[i + h];
      x[i] = a + b;
      x[i + h] = a - b;
    }
  }
}

// H_L on every vector of L lanes. Across stride h lane i becomes x_{i ^ h} + x_i, or x_{i ^ h} - x_i where i has bit h.
template <typename T>
void within_vectors(T* x, size_t n) {
  using Index = hwy::MakeSigned<T>;
  constexpr size_t kMostLanes = HWY_MAX_BYTES / sizeof(T), kMostStrides = std::bit_width(kMostLanes);
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN Index partner[kMostStrides][kMostLanes];
  HWY_ALIGN T sign[kMostStrides][kMostLanes];
  for (size_t s = 0, h = 1; h < lanes; ++s, h *= 2) {
    for (size_t i = 0; i < lanes; ++i) {
      partner[s][i] = static_cast<Index>(i ^ h);
      sign[s][i] = (i & h) != 0 ? T(-1) : T(1);
    }
  }
  for (size_t i = 0; i < n; i += lanes) {
    auto v = hn::LoadU(d, x + i);
    for (size_t s = 0, h = 1; h < lanes; ++s, h *= 2) {
      v = hn::MulAdd(hn::Load(d, sign[s]), v, hn::TableLookupLanes(v, hn::SetTableIndices(d, partner[s])));
    }
    hn::StoreU(v, d, x + i);
  }
}

// H_2 across the halves of x, each of h entries.
template <typename T>
void across_halves(T* x, size_t h) {
  const hn::ScalableTag<T> d;
  for (size_t i = 0; i < h; i += hn::Lanes(d)) {
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + h + i);
    hn::StoreU(hn::Add(a, b), d, x + i);
    hn::StoreU(hn::Sub(a, b), d, x + h + i);
  }
}

// H_4 across the quarters of x, each of h entries.
template <typename T>
void across_quarters(T* x, size_t h) {
  const hn::ScalableTag<T> d;
  for (size_t i = 0; i < h; i += hn::Lanes(d)) {
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + h + i);
    const auto c = hn::LoadU(d, x + 2 * h + i), e = hn::LoadU(d, x + 3 * h + i);
    const auto s = hn::Add(a, b), t = hn::Sub(a, b), u = hn::Add(c, e), v = hn::Sub(c, e);
    hn::StoreU(hn::Add(s, u), d, x + i);
    hn::StoreU(hn::Add(t, v), d, x + h + i);
    hn::StoreU(hn::Sub(s, u), d, x + 2 * h + i);
    hn::StoreU(hn::Sub(t, v), d, x + 3 * h + i);
  }
}

template <typename T>
void transform_in_cache(T* x, size_t n) {
  size_t h = hn::Lanes(hn::ScalableTag<T>());
  if (n < h) return transform_short(x, n);
  within_vectors(x, n);
  if (std::countr_zero(n / h) % 2 == 1) {
    for (size_t i = 0; i < n; i += 2 * h) across_halves(x + i, h);
    h *= 2;
  }
  for (; h < n; h *= 4) {
    for (size_t i = 0; i < n; i += 4 * h) across_quarters(x + i, h);
  }
}

template <typename T>
void transform(T* x, size_t n) {  // NOLINT(misc-no-recursion): quarters until one fits into the cache
  if (n <= kInCache) return transform_in_cache(x, n);
  for (size_t quarter = 0; quarter < 4; ++quarter) transform(x + quarter * (n / 4), n / 4);
  across_quarters(x, n / 4);
}

void transform_float(float* x, size_t n) {
  transform(x, n);
}
void transform_double(double* x, size_t n) {
  transform(x, n);
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace croquis {
namespace {

HWY_EXPORT(transform_float);
HWY_EXPORT(transform_double);

void transform(float* x, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(transform_float)(x, n);
}
void transform(double* x, std::size_t n) {
  HWY_DYNAMIC_DISPATCH(transform_double)(x, n);
}

}  // namespace

template <typename T>
void hadamard_transform(T* x, std::size_t n) {
  require(std::has_single_bit(n), "hadamard_transform", "n a power of two", {{"n", n}});
  transform(x, n);
}

template <typename T>
void hadamard_transform(arma::Mat<T>& x) {
  require(std::has_single_bit(x.n_rows), "hadamard_transform", "n a power of two", {{"n", x.n_rows}});
  parallel_for(x.n_cols, x.n_rows * static_cast<std::size_t>(std::bit_width(x.n_rows)),
               [&](std::size_t c) { transform(x.colptr(c), x.n_rows); });
}

std::size_t next_power_of_two(std::size_t n) {
  require(n <= std::size_t{1} << 63, "next_power_of_two", "n <= 2^63", {{"n", static_cast<double>(n)}});
  return std::bit_ceil(n);
}

template void hadamard_transform(float*, std::size_t);
template void hadamard_transform(double*, std::size_t);
template void hadamard_transform(arma::Mat<float>&);
template void hadamard_transform(arma::Mat<double>&);

}  // namespace croquis
#endif
