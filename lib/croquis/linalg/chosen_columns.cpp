#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/linalg/chosen_columns.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/highway.h>
#include <croquis/linalg/chosen_columns.hpp>

HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
T dot(const T* x, const T* y, size_t rows) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  auto even = hn::Zero(d), odd = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * lanes <= rows; i += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), even);
    odd = hn::MulAdd(hn::LoadU(d, x + i + lanes), hn::LoadU(d, y + i + lanes), odd);
  }
  if (i + lanes <= rows) {
    even = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), even);
    i += lanes;
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < rows; ++i) sum += x[i] * y[i];
  return sum;
}

template <typename T>
void dots_of(const T* x, const T* matrix, size_t rows, const std::uint32_t* index, size_t count, T* out) {
  for (size_t e = 0; e < count; ++e) out[e] = dot(x, matrix + rows * index[e], rows);
}

// Four vectors of the sum at a time, which stay in registers for all terms.
template <typename T>
void weighted_sum_of(const T* weight, const T* matrix, size_t rows, const std::uint32_t* index, size_t count, T* out) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 4 * lanes <= rows; i += 4 * lanes) {
    auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
    for (size_t e = 0; e < count; ++e) {
      const T* column = matrix + rows * index[e] + i;
      const auto w = hn::Set(d, weight[e]);
      s0 = hn::MulAdd(w, hn::LoadU(d, column), s0);
      s1 = hn::MulAdd(w, hn::LoadU(d, column + lanes), s1);
      s2 = hn::MulAdd(w, hn::LoadU(d, column + 2 * lanes), s2);
      s3 = hn::MulAdd(w, hn::LoadU(d, column + 3 * lanes), s3);
    }
    hn::StoreU(s0, d, out + i);
    hn::StoreU(s1, d, out + i + lanes);
    hn::StoreU(s2, d, out + i + 2 * lanes);
    hn::StoreU(s3, d, out + i + 3 * lanes);
  }
  for (; i < rows; ++i) {
    T sum = 0;
    for (size_t e = 0; e < count; ++e) sum += weight[e] * matrix[rows * index[e] + i];
    out[i] = sum;
  }
}

void dots_float(const float* x, const float* m, size_t rows, const std::uint32_t* index, size_t count, float* out) {
  dots_of(x, m, rows, index, count, out);
}
void dots_double(const double* x, const double* m, size_t rows, const std::uint32_t* index, size_t count, double* out) {
  dots_of(x, m, rows, index, count, out);
}
void weighted_sum_float(const float* w, const float* m, size_t rows, const std::uint32_t* index, size_t count,
                        float* out) {
  weighted_sum_of(w, m, rows, index, count, out);
}
void weighted_sum_double(const double* w, const double* m, size_t rows, const std::uint32_t* index, size_t count,
                         double* out) {
  weighted_sum_of(w, m, rows, index, count, out);
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace croquis {

HWY_EXPORT(dots_float);
HWY_EXPORT(dots_double);
HWY_EXPORT(weighted_sum_float);
HWY_EXPORT(weighted_sum_double);

void dots(const float* x, const float* m, std::size_t rows, const std::uint32_t* index, std::size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(dots_float)(x, m, rows, index, count, out);
}
void dots(const double* x, const double* m, std::size_t rows, const std::uint32_t* index, std::size_t count,
          double* out) {
  HWY_DYNAMIC_DISPATCH(dots_double)(x, m, rows, index, count, out);
}
void weighted_sum(const float* w, const float* m, std::size_t rows, const std::uint32_t* index, std::size_t count,
                  float* out) {
  HWY_DYNAMIC_DISPATCH(weighted_sum_float)(w, m, rows, index, count, out);
}
void weighted_sum(const double* w, const double* m, std::size_t rows, const std::uint32_t* index, std::size_t count,
                  double* out) {
  HWY_DYNAMIC_DISPATCH(weighted_sum_double)(w, m, rows, index, count, out);
}

}  // namespace croquis
#endif
