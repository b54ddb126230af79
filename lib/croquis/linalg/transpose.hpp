// Transposes of tall and of wide matrices, on several threads.
#pragma once

#include <armadillo>

namespace croquis {

/// M^T (cols x rows). Cost: one pass over both matrices. New memory is first touched by the threads that fill it.
template <typename T>
arma::Mat<T> transposed(const arma::Mat<T>& m);

/// out(j, i) = in(i, j) for i < rows, j < cols, on one thread. The columns of `in` begin in_stride entries apart, and
/// those of `out` out_stride.
void transpose_block(const float* in, std::size_t in_stride, std::size_t rows, std::size_t cols, float* out,
                     std::size_t out_stride);
void transpose_block(const double* in, std::size_t in_stride, std::size_t rows, std::size_t cols, double* out,
                     std::size_t out_stride);

}  // namespace croquis
