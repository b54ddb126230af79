#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/linalg/chosen_columns.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include <algorithm>
#include <croquis/linalg/chosen_columns.hpp>

HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Chosen columns lie anywhere, so that the processor does not foresee them: these many terms ahead they are asked for.
constexpr size_t kAhead = 12;

template <typename T>
HWY_INLINE void fetch(const T* column, size_t rows) {
  constexpr size_t line = 64 / sizeof(T);
  for (size_t i = 0; i < rows; i += line) hwy::Prefetch(column + i);
}

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

// dot(x, y[0]), ..., dot(x, y[3]), the same bits, none of which waits for another.
template <typename T>
void four_dots(const T* x, const T* const* y, size_t rows, T* out) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  auto even0 = hn::Zero(d), even1 = even0, even2 = even0, even3 = even0;
  auto odd0 = even0, odd1 = even0, odd2 = even0, odd3 = even0;
  const auto add = [&](size_t i, auto& s0, auto& s1, auto& s2, auto& s3) HWY_ATTR {
    const auto part = hn::LoadU(d, x + i);
    s0 = hn::MulAdd(part, hn::LoadU(d, y[0] + i), s0);
    s1 = hn::MulAdd(part, hn::LoadU(d, y[1] + i), s1);
    s2 = hn::MulAdd(part, hn::LoadU(d, y[2] + i), s2);
    s3 = hn::MulAdd(part, hn::LoadU(d, y[3] + i), s3);
  };
  size_t i = 0;
  for (; i + 2 * lanes <= rows; i += 2 * lanes) {
    add(i, even0, even1, even2, even3);
    add(i + lanes, odd0, odd1, odd2, odd3);
  }
  if (i + lanes <= rows) {
    add(i, even0, even1, even2, even3);
    i += lanes;
  }
  out[0] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even0, odd0)));
  out[1] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even1, odd1)));
  out[2] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even2, odd2)));
  out[3] = hn::GetLane(hn::SumOfLanes(d, hn::Add(even3, odd3)));
  for (; i < rows; ++i) {
    for (size_t s = 0; s < 4; ++s) out[s] += x[i] * y[s][i];
  }
}

template <typename T>
void dots_of(const T* x, const T* matrix, size_t rows, const std::uint32_t* index, size_t count, T* out) {
  size_t e = 0;
  for (; e + 4 <= count; e += 4) {
    for (size_t s = e + kAhead; s < std::min(e + kAhead + 4, count); ++s) fetch(matrix + rows * index[s], rows);
    const T* const columns[4] = {matrix + rows * index[e], matrix + rows * index[e + 1], matrix + rows * index[e + 2],
                                 matrix + rows * index[e + 3]};
    four_dots(x, columns, rows, out + e);
  }
  for (; e < count; ++e) out[e] = dot(x, matrix + rows * index[e], rows);
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
      if (e + kAhead < count) fetch(matrix + rows * index[e + kAhead] + i, 4 * lanes);
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

template <typename T>
void squared_norms_of(const T* matrix, size_t rows, size_t count, T* out) {
  for (size_t e = 0; e < count; ++e) out[e] = dot(matrix + rows * e, matrix + rows * e, rows);
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

void squared_norms_float(const float* m, size_t rows, size_t count, float* out) {
  squared_norms_of(m, rows, count, out);
}
void squared_norms_double(const double* m, size_t rows, size_t count, double* out) {
  squared_norms_of(m, rows, count, out);
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace croquis {

HWY_EXPORT(dots_float);
HWY_EXPORT(dots_double);
HWY_EXPORT(weighted_sum_float);
HWY_EXPORT(weighted_sum_double);
HWY_EXPORT(squared_norms_float);
HWY_EXPORT(squared_norms_double);

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
void squared_norms(const float* m, std::size_t rows, std::size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(squared_norms_float)(m, rows, count, out);
}
void squared_norms(const double* m, std::size_t rows, std::size_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(squared_norms_double)(m, rows, count, out);
}

}  // namespace croquis
#endif
