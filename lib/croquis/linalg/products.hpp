// Matrix products on several threads, with the same bits for any number of threads.
#pragma once

#include <armadillo>

namespace croquis {

/// scale A B, A^T B and A B^T.
/// Guarantees: the work is divided by sizes only. A large product is divided into blocks of rows or of columns. A small
///   product with a long inner dimension is divided into groups of terms, whose sums are added in order. Each part is
///   computed in tiles of 64 rows on one thread, by narrow_gemm().
/// Cost: 2 rows cols inner flops. Each group, at most 16, needs the memory of the product.
/// Throws: std::invalid_argument if the inner sizes differ.
template <typename T>
arma::Mat<T> product(const arma::Mat<T>& a, const arma::Mat<T>& b, T scale = 1);
template <typename T>
arma::Mat<T> product_tn(const arma::Mat<T>& a, const arma::Mat<T>& b);
template <typename T>
arma::Mat<T> product_nt(const arma::Mat<T>& a, const arma::Mat<T>& b);

/// scale A B for symmetric matrices A and B (d x d) that commute, as polynomials of one matrix do. The product is then
/// symmetric. Only the part above the diagonal is computed, in blocks of 64, and mirrored.
/// Cost: d^2 (d + 64) flops.
/// Throws: std::invalid_argument unless A and B are square and of one size.
template <typename T>
arma::Mat<T> product_symmetric(const arma::Mat<T>& a, const arma::Mat<T>& b, T scale = 1);

/// C += A_c B and C += A_r^T B on one thread. A_c has b.n_rows columns of A, from column `first` on, and A_r as many
/// rows, from row `first` on. Throws std::invalid_argument unless A has them and C is of the product's size.
template <typename T>
void add_product(const arma::Mat<T>& a, arma::uword first, const arma::Mat<T>& b, arma::Mat<T>& c);
template <typename T>
void add_product_tn(const arma::Mat<T>& a, arma::uword first, const arma::Mat<T>& b, arma::Mat<T>& c);

/// block(i, j) = scale a_{i0 + i} . b_{j0 + j} for rows of A and of B. This is a block of scale A B^T, for callers that
/// use it while it is in cache. One thread. Throws std::invalid_argument if the block is not within A B^T.
template <typename T>
void product_nt_block(T scale, const arma::Mat<T>& a, arma::uword i0, const arma::Mat<T>& b, arma::uword j0,
                      arma::Mat<T>& block);

}  // namespace croquis
