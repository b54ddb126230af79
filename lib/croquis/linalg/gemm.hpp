// BLAS' matrix product for parts of matrices.
#pragma once

#include <cblas.h>
#include <armadillo>

namespace croquis {

/// C = alpha op(A) op(B) + beta C, m x n with k terms, all stored by columns ld apart. One call of BLAS.
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, arma::uword m, arma::uword n, arma::uword k, float alpha,
                 const float* a, arma::uword lda, const float* b, arma::uword ldb, float beta, float* c,
                 arma::uword ldc) {
  const auto size = [](arma::uword value) { return static_cast<int>(value); };
  cblas_sgemm(CblasColMajor, ta, tb, size(m), size(n), size(k), alpha, a, size(lda), b, size(ldb), beta, c, size(ldc));
}
inline void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, arma::uword m, arma::uword n, arma::uword k, double alpha,
                 const double* a, arma::uword lda, const double* b, arma::uword ldb, double beta, double* c,
                 arma::uword ldc) {
  const auto size = [](arma::uword value) { return static_cast<int>(value); };
  cblas_dgemm(CblasColMajor, ta, tb, size(m), size(n), size(k), alpha, a, size(lda), b, size(ldb), beta, c, size(ldc));
}

}  // namespace croquis
