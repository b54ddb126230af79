// The fast Walsh-Hadamard transform.
#pragma once

#include <armadillo>

namespace croquis {

/// x <- H x in place, for n = 2^k entries and H_ij = (-1)^popcount(i & j) (Sylvester's order). H H = n I.
/// Guarantees: an entry is a sum of n terms that passes log2 n roundings, so its error is at most log2 n u sum_i |x_i|
///   to first order.
/// Cost: n log2 n additions, no memory.
/// Throws: std::invalid_argument unless n is a power of two.
template <typename T>
void hadamard_transform(T* x, std::size_t n);

/// X <- H X for every column, in parallel over columns. X has n = 2^k rows. Throws as above.
template <typename T>
void hadamard_transform(arma::Mat<T>& x);

/// The smallest power of two >= n; n <= 2^63.
std::size_t next_power_of_two(std::size_t n);

}  // namespace croquis
