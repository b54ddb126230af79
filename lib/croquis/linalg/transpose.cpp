#include <algorithm>
#include <croquis/core/threads.hpp>
#include <croquis/linalg/transpose.hpp>

namespace croquis {

template <typename T>
void transpose_block(const T* in, std::size_t in_stride, std::size_t rows, std::size_t cols, T* out,
                     std::size_t out_stride) {
  constexpr std::size_t tile = 16;  // one cache line of floats a side
  for (std::size_t i0 = 0; i0 < rows; i0 += tile) {
    const std::size_t i1 = std::min(rows, i0 + tile);
    for (std::size_t j0 = 0; j0 < cols; j0 += tile) {
      const std::size_t j1 = std::min(cols, j0 + tile);
      for (std::size_t i = i0; i < i1; ++i) {
        for (std::size_t j = j0; j < j1; ++j) out[i * out_stride + j] = in[j * in_stride + i];
      }
    }
  }
}

template <typename T>
arma::Mat<T> transposed(const arma::Mat<T>& m) {
  constexpr arma::uword rows_at_once = 256;
  arma::Mat<T> t(m.n_cols, m.n_rows, arma::fill::none);
  parallel_for((m.n_rows + rows_at_once - 1) / rows_at_once, rows_at_once * m.n_cols, [&](std::size_t b) {
    const arma::uword first = b * rows_at_once, count = std::min(rows_at_once, m.n_rows - first);
    transpose_block(m.memptr() + first, m.n_rows, count, m.n_cols, t.colptr(first), m.n_cols);
  });
  return t;
}

template arma::Mat<float> transposed(const arma::Mat<float>&);
template arma::Mat<double> transposed(const arma::Mat<double>&);
template void transpose_block(const float*, std::size_t, std::size_t, std::size_t, float*, std::size_t);
template void transpose_block(const double*, std::size_t, std::size_t, std::size_t, double*, std::size_t);

}  // namespace croquis
