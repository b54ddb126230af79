#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/toeplitz/phase_products.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/highway.h>
#include <croquis/toeplitz/phase_products.hpp>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
constexpr size_t kTile = Spectra<T>::kTile;
template <typename T>
using Tag = hn::CappedTag<T, kTile<T>>;

// The frequencies t kTile, t kTile + 1, ... of all sequences.
template <typename T>
HWY_INLINE void split_tile(const PairedSequences<T>& transforms, size_t t, T* tile) {
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d), first = t * kTile<T>, last = transforms.length() + 1 - first;
  const auto half = hn::Set(d, T(0.5));
  for (size_t p = 0; p < transforms.pairs(); ++p, tile += 4 * kTile<T>) {
    const T* z = transforms.numbers(p);
    for (size_t v = 0; v < kTile<T>; v += lanes) {
      hn::Vec<Tag<T>> re, im, mirrored_re, mirrored_im;
      hn::LoadInterleaved2(d, z + 2 * (first + v), re, im);
      hn::LoadInterleaved2(d, z + 2 * (last - v - lanes), mirrored_re, mirrored_im);
      mirrored_re = hn::Reverse(d, mirrored_re);
      mirrored_im = hn::Reverse(d, mirrored_im);
      hn::StoreU(hn::Mul(half, hn::Add(re, mirrored_re)), d, tile + v);
      hn::StoreU(hn::Mul(half, hn::Sub(im, mirrored_im)), d, tile + kTile<T> + v);
      hn::StoreU(hn::Mul(half, hn::Add(im, mirrored_im)), d, tile + 2 * kTile<T> + v);
      hn::StoreU(hn::Mul(half, hn::Sub(mirrored_re, re)), d, tile + 3 * kTile<T> + v);
    }
  }
}

// Frequencies after length / 2 are not written: their mirrors may have been written already.
template <typename T>
HWY_INLINE void join_tile(const T* tile, size_t t, PairedSequences<T>& transforms) {
  const size_t length = transforms.length(), first = t * kTile<T>, last = length + 1 - first;
  const auto some = [&](auto d, const T* of_pair, size_t v, T* z) HWY_ATTR {
    const T *x = of_pair + v, *y = of_pair + 2 * kTile<T> + v;
    const auto x_re = hn::LoadU(d, x), x_im = hn::LoadU(d, x + kTile<T>), y_re = hn::LoadU(d, y),
               y_im = hn::LoadU(d, y + kTile<T>);
    hn::StoreInterleaved2(hn::Sub(x_re, y_im), hn::Add(x_im, y_re), d, z + 2 * (first + v));
    hn::StoreInterleaved2(hn::Reverse(d, hn::Add(x_re, y_im)), hn::Reverse(d, hn::Sub(y_re, x_im)), d,
                          z + 2 * (last - v - hn::Lanes(d)));
  };
  const Tag<T> d;
  const hn::CappedTag<T, 1> single;
  const size_t frequencies = HWY_MIN(kTile<T>, length / 2 + 1 - first);
  for (size_t p = 0; p < transforms.pairs(); ++p) {
    size_t v = 0;
    for (; v + hn::Lanes(d) <= frequencies; v += hn::Lanes(d))
      some(d, tile + p * 4 * kTile<T>, v, transforms.numbers(p));
    for (; v < frequencies; ++v) some(single, tile + p * 4 * kTile<T>, v, transforms.numbers(p));
  }
}

// y += c x, or y += conj(c) x, for a vector of frequencies. c and x have their imaginary parts kTile numbers after the
// real ones.
template <bool kTransposed, typename V>
HWY_INLINE void add_product(V c_re, V c_im, V x_re, V x_im, V& re, V& im) {
  re = hn::MulAdd(c_re, x_re, re);
  im = hn::MulAdd(c_re, x_im, im);
  if constexpr (kTransposed) {
    re = hn::MulAdd(c_im, x_im, re);
    im = hn::NegMulAdd(c_im, x_re, im);
  } else {
    re = hn::NegMulAdd(c_im, x_im, re);
    im = hn::MulAdd(c_im, x_re, im);
  }
}

// Rows r ... r + 3 of y, whose sums stay in registers. Of four columns at a time, each c of a diagonal is read once.
template <bool kTransposed, typename T>
HWY_INLINE void multiply_four_rows(size_t phases, size_t r, const T* kernel, const T* x, T* y) {
  constexpr size_t step = 2 * kTile<T>;
  const Tag<T> d;
  const auto zero = hn::Zero(d);
  auto re0 = zero, im0 = zero, re1 = zero, im1 = zero, re2 = zero, im2 = zero, re3 = zero, im3 = zero;
  size_t s = 0;
  for (; s + 4 <= phases; s += 4) {
    const T* entry = x + s * step;
    const auto x_re0 = hn::LoadU(d, entry), x_im0 = hn::LoadU(d, entry + kTile<T>), x_re1 = hn::LoadU(d, entry + step),
               x_im1 = hn::LoadU(d, entry + step + kTile<T>), x_re2 = hn::LoadU(d, entry + 2 * step),
               x_im2 = hn::LoadU(d, entry + 2 * step + kTile<T>), x_re3 = hn::LoadU(d, entry + 3 * step),
               x_im3 = hn::LoadU(d, entry + 3 * step + kTile<T>);
    // c of the diagonal s - r, `right` diagonals to the right of it and `left` to the left.
    const T* diagonal = kernel + (kTransposed ? r + phases - 1 - s : s + phases - 1 - r) * step;
    const auto at = [&](size_t right, size_t left) HWY_ATTR {
      return kTransposed ? diagonal + left * step - right * step : diagonal + right * step - left * step;
    };
    const auto re_at = [&](const T* c) HWY_ATTR { return hn::LoadU(d, c); };
    const auto im_at = [&](const T* c) HWY_ATTR { return hn::LoadU(d, c + kTile<T>); };
    {
      const auto c = re_at(at(0, 3)), ci = im_at(at(0, 3));
      add_product<kTransposed>(c, ci, x_re0, x_im0, re3, im3);
    }
    {
      const auto c = re_at(at(0, 2)), ci = im_at(at(0, 2));
      add_product<kTransposed>(c, ci, x_re0, x_im0, re2, im2);
      add_product<kTransposed>(c, ci, x_re1, x_im1, re3, im3);
    }
    {
      const auto c = re_at(at(0, 1)), ci = im_at(at(0, 1));
      add_product<kTransposed>(c, ci, x_re0, x_im0, re1, im1);
      add_product<kTransposed>(c, ci, x_re1, x_im1, re2, im2);
      add_product<kTransposed>(c, ci, x_re2, x_im2, re3, im3);
    }
    {
      const auto c = re_at(at(0, 0)), ci = im_at(at(0, 0));
      add_product<kTransposed>(c, ci, x_re0, x_im0, re0, im0);
      add_product<kTransposed>(c, ci, x_re1, x_im1, re1, im1);
      add_product<kTransposed>(c, ci, x_re2, x_im2, re2, im2);
      add_product<kTransposed>(c, ci, x_re3, x_im3, re3, im3);
    }
    {
      const auto c = re_at(at(1, 0)), ci = im_at(at(1, 0));
      add_product<kTransposed>(c, ci, x_re1, x_im1, re0, im0);
      add_product<kTransposed>(c, ci, x_re2, x_im2, re1, im1);
      add_product<kTransposed>(c, ci, x_re3, x_im3, re2, im2);
    }
    {
      const auto c = re_at(at(2, 0)), ci = im_at(at(2, 0));
      add_product<kTransposed>(c, ci, x_re2, x_im2, re0, im0);
      add_product<kTransposed>(c, ci, x_re3, x_im3, re1, im1);
    }
    {
      const auto c = re_at(at(3, 0)), ci = im_at(at(3, 0));
      add_product<kTransposed>(c, ci, x_re3, x_im3, re0, im0);
    }
  }
  for (; s < phases; ++s) {
    const auto x_re = hn::LoadU(d, x + s * step), x_im = hn::LoadU(d, x + s * step + kTile<T>);
    const auto add = [&](auto& re, auto& im, size_t e) HWY_ATTR {
      const T* c = kernel + (kTransposed ? r + e + phases - 1 - s : s + phases - 1 - r - e) * step;
      add_product<kTransposed>(hn::LoadU(d, c), hn::LoadU(d, c + kTile<T>), x_re, x_im, re, im);
    };
    add(re0, im0, 0);
    add(re1, im1, 1);
    add(re2, im2, 2);
    add(re3, im3, 3);
  }
  const auto store = [&](auto re, auto im, size_t e) HWY_ATTR {
    hn::StoreU(re, d, y + (r + e) * step);
    hn::StoreU(im, d, y + (r + e) * step + kTile<T>);
  };
  store(re0, im0, 0);
  store(re1, im1, 1);
  store(re2, im2, 2);
  store(re3, im3, 3);
}

template <bool kTransposed, typename T>
HWY_INLINE void multiply_row(size_t phases, size_t r, const T* kernel, const T* x, T* y) {
  constexpr size_t step = 2 * kTile<T>;
  const Tag<T> d;
  auto re = hn::Zero(d), im = hn::Zero(d);
  for (size_t s = 0; s < phases; ++s) {
    const T* c = kernel + (kTransposed ? r + phases - 1 - s : s + phases - 1 - r) * step;
    add_product<kTransposed>(hn::LoadU(d, c), hn::LoadU(d, c + kTile<T>), hn::LoadU(d, x + s * step),
                             hn::LoadU(d, x + s * step + kTile<T>), re, im);
  }
  hn::StoreU(re, d, y + r * step);
  hn::StoreU(im, d, y + r * step + kTile<T>);
}

template <bool kTransposed, typename T>
HWY_INLINE void multiply_tile(size_t phases, const T* kernel, const T* x, T* y) {
  for (size_t v = 0; v < kTile<T>; v += hn::Lanes(Tag<T>())) {
    size_t r = 0;
    for (; r + 4 <= phases; r += 4) multiply_four_rows<kTransposed>(phases, r, kernel + v, x + v, y + v);
    for (; r < phases; ++r) multiply_row<kTransposed>(phases, r, kernel + v, x + v, y + v);
  }
}

template <typename T>
void multiply_all(size_t phases, const Spectra<T>& kernel, bool transposed, PairedSequences<T>& x, Spectra<T>* kept) {
  std::vector<T> of_x(kept == nullptr ? 4 * x.pairs() * kTile<T> : 0), of_y(4 * x.pairs() * kTile<T>);
  for (size_t t = 0; t < kernel.tiles(); ++t) {
    T* tile = kept == nullptr ? of_x.data() : kept->tile(t);
    split_tile(x, t, tile);
    if (transposed) {
      multiply_tile<true>(phases, kernel.tile(t), tile, of_y.data());
    } else {
      multiply_tile<false>(phases, kernel.tile(t), tile, of_y.data());
    }
    join_tile(of_y.data(), t, x);
  }
}

template <typename T>
void split_all(const PairedSequences<T>& transforms, Spectra<T>& spectra) {
  for (size_t t = 0; t < spectra.tiles(); ++t) split_tile(transforms, t, spectra.tile(t));
}

template <typename T>
void join_all(const Spectra<T>& spectra, PairedSequences<T>& transforms) {
  for (size_t t = 0; t < spectra.tiles(); ++t) join_tile(spectra.tile(t), t, transforms);
}

template <typename T>
void correlate_all(size_t phases, const Spectra<T>& x, const Spectra<T>& y, Spectra<T>& sum) {
  const Tag<T> d;
  for (size_t t = 0; t < sum.tiles(); ++t) {
    for (size_t v = 0; v < kTile<T>; v += hn::Lanes(d)) {
      for (size_t e = 0; e < 2 * phases - 1; ++e) {  // y_{r + e - (phases - 1)}
        const size_t first = e < phases - 1 ? phases - 1 - e : 0, end = HWY_MIN(phases, 2 * phases - 1 - e);
        T* of_sum = sum.tile(t) + e * 2 * kTile<T> + v;
        auto re = hn::LoadU(d, of_sum), im = hn::LoadU(d, of_sum + kTile<T>);
        for (size_t r = first; r < end; ++r) {
          const T* a = x.tile(t) + r * 2 * kTile<T> + v;
          const T* b = y.tile(t) + (r + e - (phases - 1)) * 2 * kTile<T> + v;
          const auto a_re = hn::LoadU(d, a), a_im = hn::LoadU(d, a + kTile<T>), b_re = hn::LoadU(d, b),
                     b_im = hn::LoadU(d, b + kTile<T>);
          re = hn::MulAdd(a_im, b_im, hn::MulAdd(a_re, b_re, re));
          im = hn::NegMulAdd(a_im, b_re, hn::MulAdd(a_re, b_im, im));
        }
        hn::StoreU(re, d, of_sum);
        hn::StoreU(im, d, of_sum + kTile<T>);
      }
    }
  }
}

void multiply_float(size_t phases, const Spectra<float>& kernel, bool transposed, PairedSequences<float>& x,
                    Spectra<float>* kept) {
  multiply_all(phases, kernel, transposed, x, kept);
}
void split_float(const PairedSequences<float>& transforms, Spectra<float>& spectra) {
  split_all(transforms, spectra);
}
void join_float(const Spectra<float>& spectra, PairedSequences<float>& transforms) {
  join_all(spectra, transforms);
}
void correlate_float(size_t phases, const Spectra<float>& x, const Spectra<float>& y, Spectra<float>& sum) {
  correlate_all(phases, x, y, sum);
}
void multiply_double(size_t phases, const Spectra<double>& kernel, bool transposed, PairedSequences<double>& x,
                     Spectra<double>* kept) {
  multiply_all(phases, kernel, transposed, x, kept);
}
void split_double(const PairedSequences<double>& transforms, Spectra<double>& spectra) {
  split_all(transforms, spectra);
}
void join_double(const Spectra<double>& spectra, PairedSequences<double>& transforms) {
  join_all(spectra, transforms);
}
void correlate_double(size_t phases, const Spectra<double>& x, const Spectra<double>& y, Spectra<double>& sum) {
  correlate_all(phases, x, y, sum);
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace croquis {

HWY_EXPORT(multiply_float);
HWY_EXPORT(multiply_double);
HWY_EXPORT(split_float);
HWY_EXPORT(split_double);
HWY_EXPORT(join_float);
HWY_EXPORT(join_double);
HWY_EXPORT(correlate_float);
HWY_EXPORT(correlate_double);

template <typename T>
void split(const PairedSequences<T>& transforms, Spectra<T>& spectra) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(split_float)(transforms, spectra);
  } else {
    HWY_DYNAMIC_DISPATCH(split_double)(transforms, spectra);
  }
}

template <typename T>
void join(const Spectra<T>& spectra, PairedSequences<T>& transforms) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(join_float)(spectra, transforms);
  } else {
    HWY_DYNAMIC_DISPATCH(join_double)(spectra, transforms);
  }
}

template <typename T>
void multiply_phases(arma::uword phases, const Spectra<T>& kernel, bool transposed, PairedSequences<T>& x,
                     Spectra<T>* kept) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(multiply_float)(phases, kernel, transposed, x, kept);
  } else {
    HWY_DYNAMIC_DISPATCH(multiply_double)(phases, kernel, transposed, x, kept);
  }
}

template <typename T>
void add_correlations(arma::uword phases, const Spectra<T>& x, const Spectra<T>& y, Spectra<T>& sum) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(correlate_float)(phases, x, y, sum);
  } else {
    HWY_DYNAMIC_DISPATCH(correlate_double)(phases, x, y, sum);
  }
}

template void split(const PairedSequences<float>&, Spectra<float>&);
template void join(const Spectra<float>&, PairedSequences<float>&);
template void multiply_phases(arma::uword, const Spectra<float>&, bool, PairedSequences<float>&, Spectra<float>*);
template void add_correlations(arma::uword, const Spectra<float>&, const Spectra<float>&, Spectra<float>&);
template void split(const PairedSequences<double>&, Spectra<double>&);
template void join(const Spectra<double>&, PairedSequences<double>&);
template void multiply_phases(arma::uword, const Spectra<double>&, bool, PairedSequences<double>&, Spectra<double>*);
template void add_correlations(arma::uword, const Spectra<double>&, const Spectra<double>&, Spectra<double>&);

}  // namespace croquis
#endif
