#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/random/block_draws.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/highway.h>
#include <Random123/boxmuller.hpp>
#include <algorithm>
#include <croquis/random/draws.hpp>
#include <croquis/random/sine-inl.hpp>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR  // for processors without SSSE3: Random123's own functions

HWY_INLINE void draws_of(const std::array<std::uint32_t, 4>& w, float* z) {
  const auto a = r123::boxmuller(w[0], w[1]), b = r123::boxmuller(w[2], w[3]);
  z[0] = a.x;
  z[1] = a.y;
  z[2] = b.x;
  z[3] = b.y;
}

HWY_INLINE void draws_of(const std::array<std::uint32_t, 4>& w, double* z) {
  const auto a =
      r123::boxmuller(w[0] | static_cast<std::uint64_t>(w[1]) << 32, w[2] | static_cast<std::uint64_t>(w[3]) << 32);
  z[0] = a.x;
  z[1] = a.y;
}

std::uint64_t blocks_at_once() {
  return 1;
}

HWY_INLINE void draws_of(const std::array<std::uint32_t, 4>& w, std::uint64_t* out) {
  out[0] = w[0] | static_cast<std::uint64_t>(w[1]) << 32;
  out[1] = w[2] | static_cast<std::uint64_t>(w[3]) << 32;
}

struct Generator {
  const Key& key;
  std::uint64_t k;

  template <int kVectors, typename T>
  void next(T* out) {
    for (int v = 0; v < kVectors; ++v) draws_of(key.block(k++), out + v * (4 * sizeof(float) / sizeof(T)));
  }
};

#else

using Words = hn::ScalableTag<std::uint64_t>;

std::uint64_t blocks_at_once() {
  return hn::Lanes(Words());
}

using WordVector = hn::Vec<Words>;

// One 32-bit word of a block in a lane of 64 bits, whose upper half is ignored.
struct Blocks {
  WordVector w0, w1, w2, w3;
};

// Philox4x32-10 (Salmon et al. 2011) of the counters (k, key[2], key[3]) under (key[0], key[1]), with one block k in
// each lane.
HWY_INLINE Blocks philox(WordVector k, const std::uint32_t* key) {
  constexpr int kRounds = 10, kHalf = 32;
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  const Words d;
  const hn::Repartition<std::uint32_t, Words> d32;
  const auto product = [d32](WordVector a, WordVector b) HWY_ATTR {
    return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b));  // of the lower halves, in 64 bits
  };
  const WordVector m0 = hn::Set(d, kMultiplier0), m1 = hn::Set(d, kMultiplier1);
  Blocks b{k, hn::ShiftRight<kHalf>(k), hn::Set(d, key[2]), hn::Set(d, key[3])};
  std::uint32_t key0 = key[0], key1 = key[1];
  for (int round = 0; round < kRounds; ++round, key0 += kWeyl0, key1 += kWeyl1) {
    const WordVector p0 = product(b.w0, m0), p1 = product(b.w2, m1);
    b.w0 = hn::Xor(hn::Xor(hn::ShiftRight<kHalf>(p1), b.w1), hn::Set(d, key0));
    b.w2 = hn::Xor(hn::Xor(hn::ShiftRight<kHalf>(p0), b.w3), hn::Set(d, key1));
    b.w1 = p1;
    b.w3 = p0;
  }
  return b;
}

// low | high << 32
HWY_INLINE WordVector joined(WordVector low, WordVector high) {
  const hn::Repartition<std::uint32_t, Words> d32;
  return hn::BitCast(Words(), hn::OddEven(hn::BitCast(d32, hn::ShiftLeft<32>(high)), hn::BitCast(d32, low)));
}

// Box-Muller on unsigned words: angle (a + 1/2) 2^{1-w} pi with a signed, radius of (b + 1/2) 2^{-w}, w the word's
// bits: the map of Random123's boxmuller. Sines come first.
template <typename D, typename Word, typename V = hn::Vec<D> >
HWY_INLINE SineCosine<D, V> box_muller(D d, Word a, Word b) {
  using T = hn::TFromD<D>;
  constexpr T kStep = sizeof(T) == sizeof(float) ? T(0x1p-32) : T(0x1p-64);
  const auto c = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<T>(value)); };
  const V angle = hn::MulAdd(hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<D>(), a)), c(2 * kStep), c(kStep));
  const V uniform = hn::MulAdd(hn::ConvertTo(d, b), c(kStep), c(kStep / 2));
  // angle = k/2 + rest, |rest| <= 1/4; adding 1.5 2^{digits-1} leaves the integer k in the lowest bits.
  const V magic = c(sizeof(T) == sizeof(float) ? 0x1.8p23 : 0x1.8p52);
  const V shifted = hn::MulAdd(angle, c(2), magic);
  const V rest = hn::NegMulAdd(hn::Sub(shifted, magic), c(0.5), angle);
  const V radius = hn::Sqrt(hn::Mul(c(-2), hn::Log(d, uniform)));
  constexpr double kPi = 3.14159265358979323846;
  const auto x =
      turned(d, sine_cosine_near_zero(d, hn::Mul(rest, c(kPi))), hn::BitCast(hn::RebindToSigned<D>(), shifted));
  return {hn::Mul(radius, x.sine), hn::Mul(radius, x.cosine)};
}

// Interleaves sines and cosines, or the halves of blocks, so that the numbers are in the order of the blocks.
template <typename D, typename V, typename T>
HWY_INLINE void store_in_turn(D d, V a, V b, T* out) {
  hn::StoreU(hn::InterleaveLower(d, a, b), d, out);
  hn::StoreU(hn::InterleaveUpper(d, a, b), d, out + hn::Lanes(d));
}

// Normals, or words of 64 bits, of the blocks of one vector.
HWY_INLINE void draws_of(const Blocks& b, float* out) {
  const hn::Repartition<float, Words> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto z = box_muller(d, hn::BitCast(du, joined(b.w0, b.w2)), hn::BitCast(du, joined(b.w1, b.w3)));
  store_in_turn(d, z.sine, z.cosine, out);
}

HWY_INLINE void draws_of(const Blocks& b, double* out) {
  const hn::Repartition<double, Words> d;
  const auto z = box_muller(d, joined(b.w0, b.w1), joined(b.w2, b.w3));
  store_in_turn(d, z.sine, z.cosine, out);
}

HWY_INLINE void draws_of(const Blocks& b, std::uint64_t* out) {
  store_in_turn(Words(), joined(b.w0, b.w1), joined(b.w2, b.w3), out);
}

// The blocks k, k + 1, ..., some vectors of them at a time. Words and numbers have a loop each: both are long chains of
// operations, and a processor has to find several that do not depend on each other. One loop for both takes 1.7 times
// as long.
class Generator {
 public:
  Generator(const Key& key, std::uint64_t first) : name_(key.words().data()) {
    // In the order of lanes that the interleaving undoes: 0 B 1 B+1 ... with B = Lanes / 2.
    HWY_ALIGN std::uint64_t order[HWY_MAX_BYTES / sizeof(std::uint64_t)];
    const std::uint64_t half = blocks_at_once() / 2;
    for (std::uint64_t i = 0; i < half; ++i) {
      order[2 * i] = first + i;
      order[2 * i + 1] = first + i + half;
    }
    k_ = hn::Load(Words(), order);
  }

  template <int kVectors, typename T>
  HWY_INLINE void next(T* out) {
    const std::uint64_t blocks = blocks_at_once(), numbers = blocks * 4 * sizeof(float) / sizeof(T);
    Blocks words[kVectors];
    for (Blocks& w : words) {
      w = philox(k_, name_);
      k_ = hn::Add(k_, hn::Set(Words(), blocks));
    }
    for (int v = 0; v < kVectors; ++v) draws_of(words[v], out + v * numbers);
  }

 private:
  const std::uint32_t* name_;
  WordVector k_;
};

#endif

template <typename T>
void fill(const Key& key, std::uint64_t first, std::uint64_t count, T* out) {
  constexpr int many = 8;  // vectors
  constexpr std::uint64_t per_block = 4 * sizeof(float) / sizeof(T);
  const std::uint64_t at_once = per_block * blocks_at_once();
  Generator generator(key, first / per_block);
  HWY_ALIGN T part[std::size_t{4} * HWY_MAX_BYTES / sizeof(float)];
  std::uint64_t i = 0;
  for (std::uint64_t skip = first % per_block; i < count; skip = 0) {
    if (skip == 0 && count - i >= many * at_once) {
      generator.template next<many>(out + i);
      i += many * at_once;
    } else if (skip == 0 && count - i >= at_once) {
      generator.template next<1>(out + i);
      i += at_once;
    } else {
      generator.template next<1>(part);
      const std::uint64_t here = std::min(at_once - skip, count - i);
      std::copy_n(part + skip, here, out + i);
      i += here;
    }
  }
}

void fill_float(const Key& key, std::uint64_t first, std::uint64_t count, float* out) {
  fill(key, first, count, out);
}
void fill_double(const Key& key, std::uint64_t first, std::uint64_t count, double* out) {
  fill(key, first, count, out);
}
void fill_word(const Key& key, std::uint64_t first, std::uint64_t count, std::uint64_t* out) {
  fill(key, first, count, out);
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace croquis {

HWY_EXPORT(fill_float);
HWY_EXPORT(fill_double);
HWY_EXPORT(fill_word);

void fill_normal(const Key& key, std::uint64_t first, std::uint64_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(fill_float)(key, first, count, out);
}
void fill_normal(const Key& key, std::uint64_t first, std::uint64_t count, double* out) {
  HWY_DYNAMIC_DISPATCH(fill_double)(key, first, count, out);
}

void fill_words(const Key& key, std::uint64_t first, std::uint64_t count, std::uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(fill_word)(key, first, count, out);
}

}  // namespace croquis
#endif
