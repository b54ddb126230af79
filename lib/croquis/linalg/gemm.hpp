// The matrix product of BLAS for parts of matrices.
#pragma once

#include <cblas.h>
#include <algorithm>
#include <armadillo>
#include <croquis/core/require.hpp>
#include <croquis/core/serial_blas.hpp>
#include <croquis/core/threads.hpp>
#include <limits>

namespace croquis {

/// A size as BLAS takes it. Throws std::invalid_argument for one that is more than an int.
inline int blas_size(arma::uword size) {
  if (size > static_cast<arma::uword>(std::numeric_limits<int>::max())) {  // no call where it fits: products are small
    require(false, "gemm", "sizes below 2^31, which BLAS counts in int", {{"size", size}});
  }
  return static_cast<int>(size);
}

/// C = alpha op(A) op(B) + beta C, m x n with k terms, all stored by columns ld apart. One call of BLAS, on one thread.
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, arma::uword m, arma::uword n, arma::uword k, float alpha,
                 const float* a, arma::uword lda, const float* b, arma::uword ldb, float beta, float* c,
                 arma::uword ldc) {
  const SerialBlas serial;
  cblas_sgemm(CblasColMajor, ta, tb, blas_size(m), blas_size(n), blas_size(k), alpha, a, blas_size(lda), b,
              blas_size(ldb), beta, c, blas_size(ldc));
}
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, arma::uword m, arma::uword n, arma::uword k, double alpha,
                 const double* a, arma::uword lda, const double* b, arma::uword ldb, double beta, double* c,
                 arma::uword ldc) {
  const SerialBlas serial;
  cblas_dgemm(CblasColMajor, ta, tb, blas_size(m), blas_size(n), blas_size(k), alpha, a, blas_size(lda), b,
              blas_size(ldb), beta, c, blas_size(ldc));
}

/// The number of columns of a narrow A that are used at a time. With 64 rows they take 32 KiB, which fits the
/// first-level cache.
template <typename T>
constexpr arma::uword kNarrowTerms = 512 / sizeof(T);

/// C = alpha A op(B) + beta C for a narrow A (m x k, about 64 rows, stored without gaps). With beta = 0, C need not be
/// set before. It makes calls of at most 10^6 multiplications. With AVX-512, OpenBLAS computes such small products
/// without packing A and B, which is up to twice as fast. Its kernels for AVX2 pack them all the same and lose up to a
/// tenth.
template <typename T>
void narrow_gemm(CBLAS_TRANSPOSE tb, arma::uword m, arma::uword n, arma::uword k, T alpha, const T* a, const T* b,
                 arma::uword ldb, T beta, T* c, arma::uword ldc) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (arma::uword j = 0; j < n; ++j) {
      T* column = c + j * ldc;
      std::transform(column, column + m, column, [beta](T entry) { return beta == 0 ? T(0) : beta * entry; });
    }
    return;
  }
  constexpr arma::uword max_multiplications = 1'000'000;
  const arma::uword k_pieces = blocks_of(k, kNarrowTerms<T>);
  for (arma::uword i = 0; i < k_pieces; ++i) {
    const arma::uword term = i * k / k_pieces, terms = (i + 1) * k / k_pieces - term;
    const arma::uword n_pieces =
        blocks_of(n, std::max<arma::uword>(1, max_multiplications / std::max<arma::uword>(1, m * terms)));
    for (arma::uword j = 0; j < n_pieces; ++j) {
      const arma::uword col = j * n / n_pieces, cols = (j + 1) * n / n_pieces - col;
      gemm(CblasNoTrans, tb, m, cols, terms, alpha, a + term * m, m,
           tb == CblasTrans ? b + col + term * ldb : b + term + col * ldb, ldb, i == 0 ? beta : T(1), c + col * ldc,
           ldc);
    }
  }
}

}  // namespace croquis
