#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/linalg/row_math.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/highway.h>
#include <croquis/linalg/exponential-inl.hpp>
#include <croquis/linalg/row_math.hpp>

HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls body(d, first row) for whole vectors of rows, and body(one lane, row) for the remaining rows.
template <typename T, typename Body>
HWY_INLINE void for_vectors_of_rows(size_t rows, const Body& body) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= rows; i += lanes) body(d, i);
  for (; i < rows; ++i) body(hn::CappedTag<T, 1>(), i);
}

template <typename T>
void raise_to_row_maxima_of(const T* x, size_t rows, size_t cols, T* top) {
  for_vectors_of_rows<T>(rows, [=](auto d, size_t i) HWY_ATTR {
    auto largest = hn::LoadU(d, top + i);
    for (size_t j = 0; j < cols; ++j) largest = hn::Max(largest, hn::LoadU(d, x + i + j * rows));
    hn::StoreU(largest, d, top + i);
  });
}

template <typename T>
void exp_shifted_rows_of(T* x, size_t rows, size_t cols, const T* shift, T* sum) {
  for_vectors_of_rows<T>(rows, [=](auto d, size_t i) HWY_ATTR {
    const auto s = hn::LoadU(d, shift + i);
    auto total = hn::Zero(d);
    for (size_t j = 0; j < cols; ++j) {
      T* place = x + i + j * rows;
      const auto argument =
          hn::Min(hn::Zero(d), hn::Sub(hn::LoadU(d, place), s));  // in this order NaN gives 0, as in exp_shifted
      const auto y = exponential(d, argument);
      hn::StoreU(y, d, place);
      total = hn::Add(total, y);
    }
    hn::StoreU(hn::Add(hn::LoadU(d, sum + i), total), d, sum + i);
  });
}

// Column by column, because the columns of Y may be long.
template <typename T>
void scale_rows_of(const T* x, size_t rows, size_t cols, const T* f, const T* g, const T* r, T* y, size_t y_stride) {
  for (size_t j = 0; j < cols; ++j) {
    const T *from = x + j * rows, rest = r == nullptr ? T(0) : r[j];
    T* to = y + j * y_stride;
    for_vectors_of_rows<T>(rows, [=](auto d, size_t i) HWY_ATTR {
      auto result = hn::Mul(hn::LoadU(d, f + i), hn::LoadU(d, from + i));
      if (r != nullptr) result = hn::MulAdd(hn::LoadU(d, g + i), hn::Set(d, rest), result);
      hn::StoreU(result, d, to + i);
    });
  }
}

template <typename T>
void squared_distances_of(const T* x, size_t rows, size_t cols, const T* y, T* sum) {
  for_vectors_of_rows<T>(rows, [=](auto d, size_t i) HWY_ATTR {
    auto total = hn::Zero(d);
    for (size_t j = 0; j < cols; ++j) {
      const auto difference = hn::Sub(hn::LoadU(d, x + i + j * rows), hn::Set(d, y[j]));
      total = hn::MulAdd(difference, difference, total);
    }
    hn::StoreU(total, d, sum + i);
  });
}

void squared_distances_float(const float* x, size_t rows, size_t cols, const float* y, float* sum) {
  squared_distances_of(x, rows, cols, y, sum);
}
void squared_distances_double(const double* x, size_t rows, size_t cols, const double* y, double* sum) {
  squared_distances_of(x, rows, cols, y, sum);
}
void scale_rows_float(const float* x, size_t rows, size_t cols, const float* f, const float* g, const float* r,
                      float* y, size_t y_stride) {
  scale_rows_of(x, rows, cols, f, g, r, y, y_stride);
}
void scale_rows_double(const double* x, size_t rows, size_t cols, const double* f, const double* g, const double* r,
                       double* y, size_t y_stride) {
  scale_rows_of(x, rows, cols, f, g, r, y, y_stride);
}
void raise_to_row_maxima_float(const float* x, size_t rows, size_t cols, float* top) {
  raise_to_row_maxima_of(x, rows, cols, top);
}
void raise_to_row_maxima_double(const double* x, size_t rows, size_t cols, double* top) {
  raise_to_row_maxima_of(x, rows, cols, top);
}
void exp_shifted_rows_float(float* x, size_t rows, size_t cols, const float* shift, float* sum) {
  exp_shifted_rows_of(x, rows, cols, shift, sum);
}
void exp_shifted_rows_double(double* x, size_t rows, size_t cols, const double* shift, double* sum) {
  exp_shifted_rows_of(x, rows, cols, shift, sum);
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace croquis {

HWY_EXPORT(raise_to_row_maxima_float);
HWY_EXPORT(raise_to_row_maxima_double);
HWY_EXPORT(exp_shifted_rows_float);
HWY_EXPORT(exp_shifted_rows_double);
HWY_EXPORT(scale_rows_float);
HWY_EXPORT(scale_rows_double);
HWY_EXPORT(squared_distances_float);
HWY_EXPORT(squared_distances_double);

void raise_to_row_maxima(const float* x, std::size_t rows, std::size_t cols, float* top) {
  HWY_DYNAMIC_DISPATCH(raise_to_row_maxima_float)(x, rows, cols, top);
}
void raise_to_row_maxima(const double* x, std::size_t rows, std::size_t cols, double* top) {
  HWY_DYNAMIC_DISPATCH(raise_to_row_maxima_double)(x, rows, cols, top);
}
void exp_shifted_rows(float* x, std::size_t rows, std::size_t cols, const float* shift, float* sum) {
  HWY_DYNAMIC_DISPATCH(exp_shifted_rows_float)(x, rows, cols, shift, sum);
}
void exp_shifted_rows(double* x, std::size_t rows, std::size_t cols, const double* shift, double* sum) {
  HWY_DYNAMIC_DISPATCH(exp_shifted_rows_double)(x, rows, cols, shift, sum);
}
void scale_rows(const float* x, std::size_t rows, std::size_t cols, const float* f, const float* g, const float* r,
                float* y, std::size_t y_stride) {
  HWY_DYNAMIC_DISPATCH(scale_rows_float)(x, rows, cols, f, g, r, y, y_stride);
}
void scale_rows(const double* x, std::size_t rows, std::size_t cols, const double* f, const double* g, const double* r,
                double* y, std::size_t y_stride) {
  HWY_DYNAMIC_DISPATCH(scale_rows_double)(x, rows, cols, f, g, r, y, y_stride);
}

void squared_distances(const float* x, std::size_t rows, std::size_t cols, const float* y, float* sum) {
  HWY_DYNAMIC_DISPATCH(squared_distances_float)(x, rows, cols, y, sum);
}
void squared_distances(const double* x, std::size_t rows, std::size_t cols, const double* y, double* sum) {
  HWY_DYNAMIC_DISPATCH(squared_distances_double)(x, rows, cols, y, sum);
}

}  // namespace croquis
#endif
