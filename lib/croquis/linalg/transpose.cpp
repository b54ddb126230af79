#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "croquis/linalg/transpose.cpp"
#include <hwy/foreach_target.h>  // compiles this file once for every instruction set

#include <hwy/highway.h>
#include <algorithm>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/transpose.hpp>

HWY_BEFORE_NAMESPACE();
namespace croquis::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
template <typename T>
constexpr size_t kSide = 1;

template <typename T>
HWY_INLINE void transpose_tile(const T* in, size_t, T* out, size_t) {
  *out = *in;
}
#else
// As many rows and columns as fit into 16 bytes, the range of the interleaving instructions.
template <typename T>
constexpr size_t kSide = 16 / sizeof(T);

HWY_INLINE void transpose_tile(const float* in, size_t in_stride, float* out, size_t out_stride) {
  const hn::CappedTag<float, kSide<float> > d;
  const auto a = hn::LoadU(d, in), b = hn::LoadU(d, in + in_stride), c = hn::LoadU(d, in + 2 * in_stride),
             e = hn::LoadU(d, in + 3 * in_stride);
  const auto ac = hn::InterleaveLower(d, a, c), be = hn::InterleaveLower(d, b, e);
  hn::StoreU(hn::InterleaveLower(d, ac, be), d, out);
  hn::StoreU(hn::InterleaveUpper(d, ac, be), d, out + out_stride);
  const auto ac_high = hn::InterleaveUpper(d, a, c), be_high = hn::InterleaveUpper(d, b, e);
  hn::StoreU(hn::InterleaveLower(d, ac_high, be_high), d, out + 2 * out_stride);
  hn::StoreU(hn::InterleaveUpper(d, ac_high, be_high), d, out + 3 * out_stride);
}

HWY_INLINE void transpose_tile(const double* in, size_t in_stride, double* out, size_t out_stride) {
  const hn::CappedTag<double, kSide<double> > d;
  const auto a = hn::LoadU(d, in), b = hn::LoadU(d, in + in_stride);
  hn::StoreU(hn::InterleaveLower(d, a, b), d, out);
  hn::StoreU(hn::InterleaveUpper(d, a, b), d, out + out_stride);
}
#endif

template <typename T>
void transpose_of(const T* in, size_t in_stride, size_t rows, size_t cols, T* out, size_t out_stride) {
  constexpr size_t side = kSide<T>;
  const auto one_by_one = [&](size_t i0, size_t i1, size_t j0, size_t j1) HWY_ATTR {
    for (size_t i = i0; i < i1; ++i) {
      for (size_t j = j0; j < j1; ++j) out[i * out_stride + j] = in[j * in_stride + i];
    }
  };
  // Along the columns of the side on which they are farther apart, a few at a time, which the processor can prefetch.
  // Across them, lines at a distance of a power of two would drive each other out of the cache before they are used up.
  // The lines of the other side are used up by then if they are few.
  constexpr size_t few = 64;
  const size_t whole_rows = rows / side * side, whole_cols = cols / side * side;
  const auto tile = [&](size_t i, size_t j) HWY_ATTR {
    transpose_tile(in + j * in_stride + i, in_stride, out + i * out_stride + j, out_stride);
  };
  if (out_stride > in_stride) {
    for (size_t j0 = 0; j0 < whole_cols; j0 += few) {
      const size_t j1 = HWY_MIN(whole_cols, j0 + few);
      for (size_t i = 0; i < whole_rows; i += side) {
        for (size_t j = j0; j < j1; j += side) tile(i, j);
      }
    }
  } else {
    for (size_t j = 0; j < whole_cols; j += side) {
      for (size_t i = 0; i < whole_rows; i += side) tile(i, j);
    }
  }
  one_by_one(whole_rows, rows, 0, whole_cols);
  one_by_one(0, rows, whole_cols, cols);
}

void transpose_float(const float* in, size_t in_stride, size_t rows, size_t cols, float* out, size_t out_stride) {
  transpose_of(in, in_stride, rows, cols, out, out_stride);
}
void transpose_double(const double* in, size_t in_stride, size_t rows, size_t cols, double* out, size_t out_stride) {
  transpose_of(in, in_stride, rows, cols, out, out_stride);
}

}  // namespace croquis::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace croquis {

HWY_EXPORT(transpose_float);
HWY_EXPORT(transpose_double);

void transpose_block(const float* in, std::size_t in_stride, std::size_t rows, std::size_t cols, float* out,
                     std::size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(transpose_float)(in, in_stride, rows, cols, out, out_stride);
}
void transpose_block(const double* in, std::size_t in_stride, std::size_t rows, std::size_t cols, double* out,
                     std::size_t out_stride) {
  HWY_DYNAMIC_DISPATCH(transpose_double)(in, in_stride, rows, cols, out, out_stride);
}

template <typename T>
arma::Mat<T> transposed(const arma::Mat<T>& m) {
  constexpr arma::uword rows_at_once = 64, cols_at_once = 512;
  const arma::uword row_blocks = blocks_of(m.n_rows, rows_at_once), col_blocks = blocks_of(m.n_cols, cols_at_once);
  arma::Mat<T> t(m.n_cols, m.n_rows, arma::fill::none);
  parallel_for(row_blocks * col_blocks, rows_at_once * std::min(cols_at_once, m.n_cols), [&](std::size_t b) {
    const arma::uword i = b / col_blocks * rows_at_once, j = b % col_blocks * cols_at_once;
    const arma::uword rows = std::min(rows_at_once, m.n_rows - i), cols = std::min(cols_at_once, m.n_cols - j);
    transpose_block(m.memptr() + i + j * m.n_rows, m.n_rows, rows, cols, t.memptr() + j + i * m.n_cols, m.n_cols);
  });
  return t;
}

template arma::Mat<float> transposed(const arma::Mat<float>&);
template arma::Mat<double> transposed(const arma::Mat<double>&);

}  // namespace croquis
#endif
