#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/linalg/vector_math.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/highway.h>
#include <croquis/linalg/vector_math.hpp>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
T exp_shifted_of(T* x, size_t count, T shift) {
  const hn::ScalableTag<T> d;
  const auto s = hn::Set(d, shift);
  auto sum = hn::Zero(d);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto y = hn::Exp(d, hn::Sub(hn::LoadU(d, x + i), s));
    hn::StoreU(y, d, x + i);
    sum = hn::Add(sum, y);
  }
  T total = hn::GetLane(hn::SumOfLanes(d, sum));
  if (i < count) {  // the tail through a padded vector, so that every element takes the same code
    HWY_ALIGN T tail[HWY_MAX_BYTES / sizeof(T)] = {};
    for (size_t j = i; j < count; ++j) tail[j - i] = x[j];
    hn::Store(hn::Exp(d, hn::Sub(hn::Load(d, tail), s)), d, tail);
    for (size_t j = i; j < count; ++j) total += x[j] = tail[j - i];
  }
  return total;
}

template <typename T>
T maximum_of(const T* x, size_t count) {
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  T largest = x[0];
  size_t i = 0;
  if (count >= lanes) {
    auto m = hn::LoadU(d, x);
    for (i = lanes; i + lanes <= count; i += lanes) m = hn::Max(m, hn::LoadU(d, x + i));
    largest = hn::GetLane(hn::MaxOfLanes(d, m));
  }
  for (; i < count; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

float exp_shifted_float(float* x, size_t count, float shift) {
  return exp_shifted_of(x, count, shift);
}
double exp_shifted_double(double* x, size_t count, double shift) {
  return exp_shifted_of(x, count, shift);
}
float maximum_float(const float* x, size_t count) {
  return maximum_of(x, count);
}
double maximum_double(const double* x, size_t count) {
  return maximum_of(x, count);
}
const char* instructions() {
  return hwy::TargetName(HWY_TARGET);
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace croquis {

HWY_EXPORT(exp_shifted_float);
HWY_EXPORT(exp_shifted_double);
HWY_EXPORT(maximum_float);
HWY_EXPORT(maximum_double);
HWY_EXPORT(instructions);

template <>
float exp_shifted(float* x, std::size_t count, float shift) {
  return HWY_DYNAMIC_DISPATCH(exp_shifted_float)(x, count, shift);
}
template <>
double exp_shifted(double* x, std::size_t count, double shift) {
  return HWY_DYNAMIC_DISPATCH(exp_shifted_double)(x, count, shift);
}
template <>
float maximum(const float* x, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(maximum_float)(x, count);
}
template <>
double maximum(const double* x, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(maximum_double)(x, count);
}
const char* vector_instructions() {
  return HWY_DYNAMIC_DISPATCH(instructions)();
}

}  // namespace croquis
#endif
