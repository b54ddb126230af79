// Matrix products on several threads, the same bits for any number of them.
#pragma once

#include <armadillo>

namespace croquis {

/// scale A B, A^T B and A B^T.
/// Guarantees: split by shape alone: blocks of rows or of columns of a large product, groups of terms (added in order)
///   of a small product with a long inner dimension; within a part tiles of 64 rows, on one thread, by narrow_gemm().
/// Cost: 2 rows cols inner flops; groups take a product's memory each, 16 at most. Throws std::invalid_argument when
///   the inner sizes differ.
template <typename T>
arma::Mat<T> product(const arma::Mat<T>& a, const arma::Mat<T>& b, T scale = 1);
template <typename T>
arma::Mat<T> product_tn(const arma::Mat<T>& a, const arma::Mat<T>& b);
template <typename T>
arma::Mat<T> product_nt(const arma::Mat<T>& a, const arma::Mat<T>& b);

/// scale A B for symmetric A and B (d x d) that commute, as polynomials of one matrix do: a symmetric matrix, of which
/// the part above the diagonal is computed, in blocks of 64, and the rest is its mirror image. Cost: d^2 (d + 64)
/// flops.
template <typename T>
arma::Mat<T> product_symmetric(const arma::Mat<T>& a, const arma::Mat<T>& b, T scale = 1);

/// C += A_c B and C += A_r^T B, where A_c has b.n_rows columns of A and A_r as many rows, from `first` on. One thread.
template <typename T>
void add_product(const arma::Mat<T>& a, arma::uword first, const arma::Mat<T>& b, arma::Mat<T>& c);
template <typename T>
void add_product_tn(const arma::Mat<T>& a, arma::uword first, const arma::Mat<T>& b, arma::Mat<T>& c);

/// block(i, j) = scale a_{i0 + i} . b_{j0 + j}, for rows of A and of B: a block of scale A B^T, for those who work on
/// it while it is in cache. One thread. Throws std::invalid_argument when the block is not within A B^T.
template <typename T>
void product_nt_block(T scale, const arma::Mat<T>& a, arma::uword i0, const arma::Mat<T>& b, arma::uword j0,
                      arma::Mat<T>& block);

}  // namespace croquis
