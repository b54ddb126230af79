#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/linalg/vector_math.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/highway.h>
#include <algorithm>
#include <cmath>
#include <croquis/linalg/exponential-inl.hpp>
#include <croquis/linalg/vector_math.hpp>
#include <croquis/random/sine-inl.hpp>
#include <limits>

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
    const auto y = exponential(d, hn::Sub(hn::LoadU(d, x + i), s));
    hn::StoreU(y, d, x + i);
    sum = hn::Add(sum, y);
  }
  T total = hn::GetLane(hn::SumOfLanes(d, sum));
  if (i < count) {  // the rest in a padded vector, so that the same code is used for every element
    HWY_ALIGN T tail[HWY_MAX_BYTES / sizeof(T)] = {};
    for (size_t j = i; j < count; ++j) tail[j - i] = x[j];
    hn::Store(exponential(d, hn::Sub(hn::Load(d, tail), s)), d, tail);
    for (size_t j = i; j < count; ++j) total += x[j] = tail[j - i];
  }
  return total;
}

template <typename T>
void logarithm_of(T* x, size_t count) {
  const hn::ScalableTag<T> d;
  const auto log = [d](hn::Vec<decltype(d)> v) HWY_ATTR {
    return hn::IfThenElse(hn::Eq(v, hn::Zero(d)), hn::Set(d, -std::numeric_limits<T>::infinity()), hn::Log(d, v));
  };
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(log(hn::LoadU(d, x + i)), d, x + i);
  if (i == count) return;
  HWY_ALIGN T tail[HWY_MAX_BYTES / sizeof(T)];
  std::fill_n(tail, lanes, T(1));
  std::copy_n(x + i, count - i, tail);
  hn::Store(log(hn::Load(d, tail)), d, tail);
  std::copy_n(tail, count - i, x + i);
}

// x = k pi/2 + rest, |rest| <= pi/4, with pi/2 in parts of 33, 33 and 53 bits: k times one of the first two is exact.
// The rounding error of the second difference is added to the third, so that the rest is rounded once.
template <typename D, typename V = hn::Vec<D>>
HWY_INLINE V reduced(D d, V x, V k) {
  const V first = hn::NegMulAdd(k, hn::Set(d, 1.57079632673412561417e+00), x);
  const V part = hn::Mul(k, hn::Set(d, 6.07710050630396597660e-11));
  const V second = hn::Sub(first, part);
  const V lost = hn::Sub(hn::Sub(first, second), part);
  return hn::Add(second, hn::NegMulAdd(k, hn::Set(d, 2.02226624879595063154e-21), lost));
}

// By vectors as long as k and its products with the parts are exact, which covers all practical arguments.
HWY_INLINE SineCosine<hn::ScalableTag<double>, hn::Vec<hn::ScalableTag<double>>> sine_cosine_of(
    hn::Vec<hn::ScalableTag<double>> x) {
  const hn::ScalableTag<double> d;
  constexpr double kFarthest = 1e6;
  if (HWY_LIKELY(hn::AllTrue(d, hn::Le(hn::Abs(x), hn::Set(d, kFarthest))))) {
    const auto magic = hn::Set(d, 0x1.8p52);  // leaves k in the lowest bits of the sum
    const auto shifted = hn::MulAdd(x, hn::Set(d, 2 / 3.14159265358979323846), magic);
    return turned(d, sine_cosine_near_zero(d, reduced(d, x, hn::Sub(shifted, magic))),
                  hn::BitCast(hn::RebindToSigned<decltype(d)>(), shifted));
  }
  HWY_ALIGN double sine[HWY_MAX_BYTES / sizeof(double)], cosine[HWY_MAX_BYTES / sizeof(double)];
  hn::Store(x, d, sine);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    cosine[i] = std::cos(sine[i]);
    sine[i] = std::sin(sine[i]);
  }
  return {hn::Load(d, sine), hn::Load(d, cosine)};
}

void sine_cosine_double(const double* x, size_t count, double* sine, double* cosine) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto y = sine_cosine_of(hn::LoadU(d, x + i));
    hn::StoreU(y.sine, d, sine + i);
    hn::StoreU(y.cosine, d, cosine + i);
  }
  if (i == count) return;
  HWY_ALIGN double tail[HWY_MAX_BYTES / sizeof(double)] = {}, tail_of_cosine[HWY_MAX_BYTES / sizeof(double)];
  std::copy_n(x + i, count - i, tail);
  const auto y = sine_cosine_of(hn::Load(d, tail));
  hn::Store(y.sine, d, tail);
  hn::Store(y.cosine, d, tail_of_cosine);
  std::copy_n(tail, count - i, sine + i);
  std::copy_n(tail_of_cosine, count - i, cosine + i);
}

// Computed in double, so that the reduction is exact and the result is rounded once.
void sine_cosine_float(const float* x, size_t count, float* sine, float* cosine) {
  constexpr size_t kPart = 256;
  double wide[kPart], wide_sine[kPart], wide_cosine[kPart];
  for (size_t i = 0; i < count; i += kPart) {
    const size_t here = std::min(kPart, count - i);
    std::copy_n(x + i, here, wide);
    sine_cosine_double(wide, here, wide_sine, wide_cosine);
    for (size_t j = 0; j < here; ++j) {
      sine[i + j] = static_cast<float>(wide_sine[j]);
      cosine[i + j] = static_cast<float>(wide_cosine[j]);
    }
  }
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

// The bits of numbers >= 0, as integers, are in their order, with those of NaN above all. A comparison of the numbers
// would lose it.
template <typename T>
T largest_size_of(const T* x, size_t count) {
  const hn::ScalableTag<T> d;
  const hn::RebindToSigned<decltype(d)> integers;
  using Bits = hn::TFromD<decltype(integers)>;
  const auto bits = [&](size_t i) { return hn::BitCast(integers, hn::Abs(hn::LoadU(d, x + i))); };
  const size_t lanes = hn::Lanes(d);
  auto first = hn::Zero(integers), second = first;  // two, as a maximum waits for the one before
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    first = hn::Max(first, bits(i));
    second = hn::Max(second, bits(i + lanes));
  }
  Bits largest = hn::GetLane(hn::MaxOfLanes(integers, hn::Max(first, second)));
  for (; i < count; ++i) {
    const T size = std::abs(x[i]);
    Bits one;
    hwy::CopySameSize(&size, &one);
    largest = one > largest ? one : largest;
  }
  T result;
  hwy::CopySameSize(&largest, &result);
  return result;
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
float largest_size_float(const float* x, size_t count) {
  return largest_size_of(x, count);
}
double largest_size_double(const double* x, size_t count) {
  return largest_size_of(x, count);
}
void logarithm_float(float* x, size_t count) {
  logarithm_of(x, count);
}
void logarithm_double(double* x, size_t count) {
  logarithm_of(x, count);
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
HWY_EXPORT(largest_size_float);
HWY_EXPORT(largest_size_double);
HWY_EXPORT(logarithm_float);
HWY_EXPORT(logarithm_double);
HWY_EXPORT(sine_cosine_float);
HWY_EXPORT(sine_cosine_double);
HWY_EXPORT(instructions);

float exp_shifted(float* x, std::size_t count, float shift) {
  return HWY_DYNAMIC_DISPATCH(exp_shifted_float)(x, count, shift);
}
double exp_shifted(double* x, std::size_t count, double shift) {
  return HWY_DYNAMIC_DISPATCH(exp_shifted_double)(x, count, shift);
}
float maximum(const float* x, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(maximum_float)(x, count);
}
double maximum(const double* x, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(maximum_double)(x, count);
}
float largest_size(const float* x, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(largest_size_float)(x, count);
}
double largest_size(const double* x, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(largest_size_double)(x, count);
}
void logarithm(float* x, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(logarithm_float)(x, count);
}
void logarithm(double* x, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(logarithm_double)(x, count);
}
void sine_cosine(const float* x, std::size_t count, float* sine, float* cosine) {
  HWY_DYNAMIC_DISPATCH(sine_cosine_float)(x, count, sine, cosine);
}
void sine_cosine(const double* x, std::size_t count, double* sine, double* cosine) {
  HWY_DYNAMIC_DISPATCH(sine_cosine_double)(x, count, sine, cosine);
}
const char* vector_instructions() {
  return HWY_DYNAMIC_DISPATCH(instructions)();
}

}  // namespace croquis
#endif
