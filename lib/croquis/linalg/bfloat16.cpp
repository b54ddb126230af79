#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/linalg/bfloat16.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/highway.h>
#include <croquis/linalg/bfloat16.hpp>

// A is stored as pairs of terms: the bits of a_i,2t in the lower half of a word and those of a_i,2t+1 in the upper one,
// the words of all rows i of a pair t together. A column of B is made of such words as it is.
HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The bits of x rounded to bfloat16, in the upper half of a word whose lower half is undefined.
template <typename D, typename V>
HWY_INLINE V rounded_bits(D d, V bits) {
  const V odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1u));
  return hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7fffu)));
}

// Rows of two columns of A as words; `second` is nullptr after an odd last column.
void pair_rows(const float* first, const float* second, size_t rows, uint32_t* words) {
  const auto some = [&](auto d, size_t i) HWY_ATTR {
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto low = hn::ShiftRight<16>(rounded_bits(du, hn::BitCast(du, hn::LoadU(d, first + i))));
    auto high = hn::Zero(du);
    if (second != nullptr) {
      high = hn::And(rounded_bits(du, hn::BitCast(du, hn::LoadU(d, second + i))), hn::Set(du, 0xffff0000u));
    }
    hn::StoreU(hn::Or(low, high), du, words + i);
  };
  const hn::ScalableTag<float> d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= rows; i += hn::Lanes(d)) some(d, i);
  for (; i < rows; ++i) some(hn::CappedTag<float, 1>(), i);
}

// C += A B for whole vectors of rows, `rows` of them; without dot products of bfloat16 in the processor.
void multiply_pairs(size_t rows, size_t n, size_t pairs, const uint32_t* a, const uint16_t* b, size_t b_stride,
                    float* c) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto value = [](uint32_t bits) {
    float x;
    hwy::CopySameSize(&bits, &x);
    return x;
  };
  constexpr size_t kColumns = 4;
  for (size_t j = 0; j < n; j += kColumns) {
    const size_t cols = HWY_MIN(kColumns, n - j);
    for (size_t i = 0; i < rows; i += hn::Lanes(d)) {
      const auto column = [&](size_t e) { return c + (j + HWY_MIN(e, cols - 1)) * rows + i; };
      auto s0 = hn::LoadU(d, column(0)), s1 = hn::LoadU(d, column(1)), s2 = hn::LoadU(d, column(2)),
           s3 = hn::LoadU(d, column(3));
      for (size_t t = 0; t < pairs; ++t) {
        const auto words = hn::LoadU(du, a + t * rows + i);
        const auto low = hn::BitCast(d, hn::ShiftLeft<16>(words)),
                   high = hn::BitCast(d, hn::And(words, hn::Set(du, 0xffff0000u)));
        const auto add = [&](auto& sum, size_t e) HWY_ATTR {
          const uint16_t* pair = b + (j + HWY_MIN(e, cols - 1)) * b_stride + 2 * t;
          sum = hn::MulAdd(low, hn::Set(d, value(static_cast<uint32_t>(pair[0]) << 16)), sum);
          sum = hn::MulAdd(high, hn::Set(d, value(static_cast<uint32_t>(pair[1]) << 16)), sum);
        };
        add(s0, 0);
        add(s1, 1);
        add(s2, 2);
        add(s3, 3);
      }
      // Columns after the last one are the last one again.
      hn::StoreU(s0, d, column(0));
      hn::StoreU(s1, d, column(1));
      hn::StoreU(s2, d, column(2));
      hn::StoreU(s3, d, column(3));
    }
  }
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <bit>

#if HWY_ARCH_X86_64
#include <immintrin.h>
#endif

namespace croquis {

HWY_EXPORT(pair_rows);
HWY_EXPORT(multiply_pairs);

namespace {

constexpr std::size_t kLanes = 16;      // of the widest vectors of float
constexpr std::size_t kTerms = 128;     // at a time: with 64 rows A takes 16 KiB, which fits the first-level cache
constexpr std::size_t kStripRows = 64;  // at a time: four vectors of AVX-512

#if HWY_ARCH_X86_64
// Highway 1.0.3 has no dot products of bfloat16 for this instruction set, so that it is addressed by itself.
#define CROQUIS_AVX512_BF16 __attribute__((target("avx512f,avx512bf16")))

// C += A B for 16 R rows and J columns, whose sums stay in registers.
template <int R, int J>
CROQUIS_AVX512_BF16 inline void multiply_tile(std::size_t rows, std::size_t pairs, const std::uint32_t* a,
                                              const std::uint16_t* b, std::size_t b_stride, float* c) {
  __m512 sums[J][R];
  for (int j = 0; j < J; ++j) {
    for (int r = 0; r < R; ++r) sums[j][r] = _mm512_loadu_ps(c + j * rows + r * kLanes);
  }
  for (std::size_t t = 0; t < pairs; ++t) {
    __m512i left[R];
    for (int r = 0; r < R; ++r) left[r] = _mm512_loadu_si512(a + t * rows + r * kLanes);
    for (int j = 0; j < J; ++j) {
      std::int32_t pair;
      __builtin_memcpy(&pair, b + j * b_stride + 2 * t, sizeof pair);
      const __m512i right = _mm512_set1_epi32(pair);
      for (int r = 0; r < R; ++r) {
        sums[j][r] =
            _mm512_dpbf16_ps(sums[j][r], reinterpret_cast<__m512bh>(left[r]), reinterpret_cast<__m512bh>(right));
      }
    }
  }
  for (int j = 0; j < J; ++j) {
    for (int r = 0; r < R; ++r) _mm512_storeu_ps(c + j * rows + r * kLanes, sums[j][r]);
  }
}

template <int R>
CROQUIS_AVX512_BF16 void multiply_strip(std::size_t rows, std::size_t n, std::size_t pairs, const std::uint32_t* a,
                                        const std::uint16_t* b, std::size_t b_stride, float* c) {
  std::size_t j = 0;
  for (; j + 6 <= n; j += 6) multiply_tile<R, 6>(rows, pairs, a, b + j * b_stride, b_stride, c + j * rows);
  for (; j + 2 <= n; j += 2) multiply_tile<R, 2>(rows, pairs, a, b + j * b_stride, b_stride, c + j * rows);
  if (j < n) multiply_tile<R, 1>(rows, pairs, a, b + j * b_stride, b_stride, c + j * rows);
}

bool has_dot_products() {
  static const bool found = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512f");
  return found;
}
#endif

// C += A B for `rows` rows, a multiple of kLanes and at most kStripRows.
void multiply(std::size_t rows, std::size_t n, std::size_t pairs, const std::uint32_t* a, const std::uint16_t* b,
              std::size_t b_stride, float* c) {
#if HWY_ARCH_X86_64
  if (has_dot_products()) {
    if (rows == kStripRows) return multiply_strip<4>(rows, n, pairs, a, b, b_stride, c);
    for (std::size_t i = 0; i < rows; i += kLanes) multiply_strip<1>(rows, n, pairs, a + i, b, b_stride, c + i);
    return;
  }
#endif
  HWY_DYNAMIC_DISPATCH(multiply_pairs)(rows, n, pairs, a, b, b_stride, c);
}

}  // namespace

Bfloat16Columns bfloat16_columns(const float* x, std::size_t rows, std::size_t cols) {
  Bfloat16Columns rounded{rows, rows + rows % 2, {}};
  rounded.values.assign(rounded.stride * cols, 0);
  std::vector<std::uint32_t> words(rows);
  for (std::size_t j = 0; j < cols; ++j) {
    HWY_DYNAMIC_DISPATCH(pair_rows)(x + j * rows, nullptr, rows, words.data());
    std::copy(words.begin(), words.end(), rounded.values.begin() + static_cast<std::ptrdiff_t>(j * rounded.stride));
  }
  return rounded;
}

void bfloat16_product(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t a_stride,
                      const std::uint16_t* b, std::size_t b_stride, float* c) {
  thread_local std::vector<std::uint32_t> words;  // kept by the thread, as in streamed_product()
  thread_local std::vector<float> sums;
  for (std::size_t i = 0; i < m; i += kStripRows) {
    const std::size_t count = std::min(kStripRows, m - i), rows = (count + kLanes - 1) / kLanes * kLanes;
    const bool in_place = m == rows;    // the strip is all of C, and has whole vectors of rows
    words.resize(rows * (kTerms / 2));  // rows after the last one are whatever was there, and are not looked at
    if (!in_place) sums.resize(rows * n);
    float* strip = in_place ? c : sums.data();
    std::fill_n(strip, rows * n, 0.0f);
    for (std::size_t first = 0; first < k; first += kTerms) {
      const std::size_t terms = std::min(kTerms, k - first), pairs = (terms + 1) / 2;
      for (std::size_t t = 0; t < pairs; ++t) {
        const float* column = a + (first + 2 * t) * a_stride + i;
        const float* next = 2 * t + 1 < terms ? column + a_stride : nullptr;
        HWY_DYNAMIC_DISPATCH(pair_rows)(column, next, count, words.data() + t * rows);
      }
      multiply(rows, n, pairs, words.data(), b + first, b_stride, strip);
    }
    for (std::size_t j = 0; !in_place && j < n; ++j) std::copy_n(strip + j * rows, count, c + j * m + i);
  }
}

double rounded_to_bfloat16(double x) {
  constexpr int kDropped = 53 - 8;
  constexpr std::uint64_t kUnit = std::uint64_t{1} << kDropped;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t odd = bits >> kDropped & 1;
  return std::bit_cast<double>((bits + kUnit / 2 - 1 + odd) & ~(kUnit - 1));
}

}  // namespace croquis
#endif
