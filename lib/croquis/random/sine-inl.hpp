// Sine and cosine on [-pi/4, pi/4], for the vectorised functions; included once for every instruction set.
#include <hwy/highway.h>

#if defined(CROQUIS_RANDOM_SINE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef CROQUIS_RANDOM_SINE_INL
#undef CROQUIS_RANDOM_SINE_INL
#else
#define CROQUIS_RANDOM_SINE_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {

template <typename D, typename V>
struct SineCosine {
  V sine, cosine;
};

// x + x z (s_0 + s_1 z + ...), 1 - z/2 + z^2 (c_0 + c_1 z + ...) with z = x^2. Coefficients: minimax on the interval,
// from fdlibm (double) and Cephes (float).
template <typename D, typename V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE SineCosine<D, V> sine_cosine_near_zero(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  using T = hn::TFromD<D>;
  const auto c = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<T>(value)); };
  const V z = hn::Mul(x, x);
  V s, q;
  if constexpr (sizeof(T) == sizeof(float)) {
    s = hn::MulAdd(z, c(-1.9515295891e-4), c(8.3321608736e-3));
    s = hn::MulAdd(z, s, c(-1.6666654611e-1));
    q = hn::MulAdd(z, c(2.443315711809948e-5), c(-1.388731625493765e-3));
    q = hn::MulAdd(z, q, c(4.166664568298827e-2));
  } else {
    s = hn::MulAdd(z, c(1.58969099521155010221e-10), c(-2.50507602534068634195e-08));
    s = hn::MulAdd(z, s, c(2.75573137070700676789e-06));
    s = hn::MulAdd(z, s, c(-1.98412698298579493134e-04));
    s = hn::MulAdd(z, s, c(8.33333333332248946124e-03));
    s = hn::MulAdd(z, s, c(-1.66666666666666324348e-01));
    q = hn::MulAdd(z, c(-1.13596475577881948265e-11), c(2.08757232129817482790e-09));
    q = hn::MulAdd(z, q, c(-2.75573143513906633035e-07));
    q = hn::MulAdd(z, q, c(2.48015872894767294178e-05));
    q = hn::MulAdd(z, q, c(-1.38888888888741095749e-03));
    q = hn::MulAdd(z, q, c(4.16666666666666019037e-02));
  }
  const V half = hn::Mul(z, c(0.5)), top = hn::Sub(c(1), half);
  // What 1 - z/2 lost by rounding comes back with the small terms.
  const V lost = hn::Sub(hn::Sub(c(1), top), half);
  return {hn::MulAdd(hn::Mul(x, z), s, x), hn::Add(top, hn::MulAdd(hn::Mul(z, z), q, lost))};
}

// sin and cos of x + k pi/2 from those of x; `k` holds the integer in its two lowest bits.
template <typename D, typename V, typename I>
HWY_INLINE SineCosine<D, V> turned(D d, const SineCosine<D, V>& x, I k) {
  namespace hn = hwy::HWY_NAMESPACE;
  constexpr int kSignBit = 8 * sizeof(hn::TFromD<D>) - 1;
  const hn::RebindToSigned<D> di;
  const auto one = hn::Set(di, 1), two = hn::Set(di, 2);
  const auto odd = hn::RebindMask(d, hn::TestBit(k, one));
  const auto sine_sign = hn::ShiftLeft<kSignBit - 1>(hn::And(k, two));
  const auto cosine_sign = hn::ShiftLeft<kSignBit - 1>(hn::And(hn::Add(k, one), two));
  return {hn::Xor(hn::IfThenElse(odd, x.cosine, x.sine), hn::BitCast(d, sine_sign)),
          hn::Xor(hn::IfThenElse(odd, x.sine, x.cosine), hn::BitCast(d, cosine_sign))};
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
