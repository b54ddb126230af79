#include <bit>
#include <croquis/core/require.hpp>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/hadamard.hpp>

namespace croquis {
namespace {

constexpr std::size_t kInCache = 4096;  // entries of one stretch that is transformed before the next is touched

// H_4 across the four quarters of x, each of h entries.
template <typename T>
inline void across_quarters(T* x, std::size_t h) {
  T* __restrict a = x, * __restrict b = x + h, * __restrict c = x + 2 * h, * __restrict d = x + 3 * h;
  for (std::size_t i = 0; i < h; ++i) {
    const T s = a[i] + b[i], t = a[i] - b[i], u = c[i] + d[i], v = c[i] - d[i];
    a[i] = s + u;
    b[i] = t + v;
    c[i] = s - u;
    d[i] = t - v;
  }
}

template <typename T>
void transform_in_cache(T* x, std::size_t n) {
  std::size_t h = 1;
  if (std::countr_zero(n) % 2 == 1) {
    for (std::size_t i = 0; i < n; i += 2) {
      const T s = x[i] + x[i + 1], t = x[i] - x[i + 1];
      x[i] = s;
      x[i + 1] = t;
    }
    h = 2;
  }
  for (; h < n; h *= 4) {
    for (std::size_t i = 0; i < n; i += 4 * h) across_quarters(x + i, h);
  }
}

template <typename T>
void transform(T* x, std::size_t n) {
  if (n <= kInCache) return transform_in_cache(x, n);
  for (std::size_t quarter = 0; quarter < 4; ++quarter) transform(x + quarter * (n / 4), n / 4);
  across_quarters(x, n / 4);
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
