#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/sampling/words.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/highway.h>
#include <croquis/sampling/words.hpp>

HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Words are lanes. Distance and index are one number, distance first, so that the smallest has both.
void nearest_of(const uint64_t* words, size_t count, const uint64_t* centroids, size_t centroid_count,
                uint32_t* nearest) {
  const hn::ScalableTag<uint64_t> d;
  const hn::RebindToSigned<decltype(d)> numbers;  // which every instruction set compares
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN uint64_t some[hn::MaxLanes(d)] = {};
  for (size_t i = 0; i < count; i += lanes) {
    const size_t left = HWY_MIN(lanes, count - i);
    for (size_t l = 0; l < left; ++l) some[l] = words[i + l];
    const auto word = hn::Load(d, some);
    auto best = hn::Set(numbers, hwy::LimitsMax<int64_t>());
    for (size_t c = 0; c < centroid_count; ++c) {
      const auto distance = hn::PopulationCount(hn::Xor(word, hn::Set(d, centroids[c])));
      const auto both = hn::Or(hn::ShiftLeft<32>(distance), hn::Set(d, c));
      best = hn::Min(best, hn::BitCast(numbers, both));
    }
    hn::Store(hn::BitCast(d, best), d, some);
    for (size_t l = 0; l < left; ++l) nearest[i + l] = static_cast<uint32_t>(some[l]);
  }
}

void add_bits_of(uint64_t word, uint64_t* ones) {
  const hn::ScalableTag<uint64_t> d;
  const auto all = hn::Set(d, word), one = hn::Set(d, uint64_t{1});
  for (size_t b = 0; b < kWordBits; b += hn::Lanes(d)) {
    const auto bits = hn::And(hn::Shr(all, hn::Iota(d, static_cast<uint64_t>(b))), one);
    hn::StoreU(hn::Add(hn::LoadU(d, ones + b), bits), d, ones + b);
  }
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace croquis {

HWY_EXPORT(nearest_of);
HWY_EXPORT(add_bits_of);

void nearest_words(const std::uint64_t* words, std::size_t count, const std::uint64_t* centroids,
                   std::size_t centroid_count, std::uint32_t* nearest) {
  HWY_DYNAMIC_DISPATCH(nearest_of)(words, count, centroids, centroid_count, nearest);
}
void add_bits(std::uint64_t word, std::uint64_t* ones) {
  HWY_DYNAMIC_DISPATCH(add_bits_of)(word, ones);
}

}  // namespace croquis
#endif
