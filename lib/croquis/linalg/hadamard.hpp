// The fast Walsh-Hadamard transform.
#pragma once

#include <armadillo>

namespace croquis {

/// x <- H x in place, H_ij = (-1)^popcount(i & j) (Sylvester's order), n = 2^k entries; H H = n I.
/// Guarantees: an entry is a sum of n terms that passes log2 n roundings: its error is at most log2 n u sum_i |x_i| to
///   first order.
/// Cost: n log2 n additions, no memory. Throws std::invalid_argument unless n is a power of two.
template <typename T>
void hadamard_transform(T* x, std::size_t n);

/// Every column of X <- H X, in parallel over columns.
template <typename T>
void hadamard_transform(arma::Mat<T>& x);

/// The smallest power of two >= n; n <= 2^63.
std::size_t next_power_of_two(std::size_t n);

}  // namespace croquis
