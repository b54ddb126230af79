#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/random/signs.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/highway.h>
#include <algorithm>
#include <array>
#include <croquis/random/draws.hpp>

HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kWordBits = 32;

// out[b] = magnitude with bit b of the word as its sign, b = 0 ... 31.
template <typename T>
void signs_of_word(std::uint32_t word, T magnitude, T* out) {
  using Bits = hwy::MakeUnsigned<T>;
  constexpr int kSignBit = 8 * sizeof(T) - 1;
  const hn::CappedTag<T, kWordBits> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto positive = hn::BitCast(du, hn::Set(d, magnitude));
  const auto bits = hn::Set(du, static_cast<Bits>(word));
  auto place = hn::Iota(du, Bits(0));
  for (size_t b = 0; b < kWordBits; b += hn::Lanes(d)) {
    const auto sign = hn::ShiftLeft<kSignBit>(hn::Shr(bits, place));
    hn::StoreU(hn::BitCast(d, hn::Xor(positive, sign)), d, out + b);
    place = hn::Add(place, hn::Set(du, static_cast<Bits>(hn::Lanes(d))));
  }
}

template <typename T>
void fill(const Key& key, std::uint64_t first, std::uint64_t count, T magnitude, T* out) {
  constexpr std::uint64_t per_block = 4 * kWordBits;
  T part[per_block];
  std::uint64_t i = 0;
  for (std::uint64_t k = first / per_block, skip = first % per_block; i < count; ++k, skip = 0) {
    const std::array<std::uint32_t, 4> words = key.block(k);
    const bool whole = skip == 0 && count - i >= per_block;
    T* signs = whole ? out + i : part;
    for (size_t w = 0; w < words.size(); ++w) signs_of_word(words[w], magnitude, signs + w * kWordBits);
    const std::uint64_t here = std::min(per_block - skip, count - i);
    if (!whole) std::copy_n(part + skip, here, out + i);
    i += here;
  }
}

void fill_float(const Key& key, std::uint64_t first, std::uint64_t count, float magnitude, float* out) {
  fill(key, first, count, magnitude, out);
}
void fill_double(const Key& key, std::uint64_t first, std::uint64_t count, double magnitude, double* out) {
  fill(key, first, count, magnitude, out);
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace croquis {

HWY_EXPORT(fill_float);
HWY_EXPORT(fill_double);

void fill_signs(const Key& key, std::uint64_t first, std::uint64_t count, float magnitude, float* out) {
  HWY_DYNAMIC_DISPATCH(fill_float)(key, first, count, magnitude, out);
}
void fill_signs(const Key& key, std::uint64_t first, std::uint64_t count, double magnitude, double* out) {
  HWY_DYNAMIC_DISPATCH(fill_double)(key, first, count, magnitude, out);
}

}  // namespace croquis
#endif
