// Points sorted by a hash of their direction (angular locality-sensitive hashing).
#pragma once

#include <armadillo>
#include <cstdint>
#include <vector>

namespace croquis {

/// How buckets follow each other: bucket c holds the points x with x.g_r > 0 for the bits r of c, and no others.
enum class BucketOrder {
  gray,        ///< by the rank of c in the Gray code: neighbouring buckets differ in one bit, so in one half-space
  transposed,  ///< by the entry c of the Gray code, as the authors of HyperAttention and KDEformer sort
};

/// The indices of the rows of X (n x p), sorted by bucket and, within a bucket, by index, for the directions g_r in the
/// columns of G (p x r), r <= 30. A zero row is in bucket 0.
/// Guarantees: the order does not change if a row is multiplied by a positive number, up to rounding where x.g_r is
///   near 0.
/// Cost: 2 n p r flops, and a sort.
/// Throws: std::invalid_argument unless 1 <= r <= 30.
template <typename T>
std::vector<std::uint32_t> angular_order(const arma::Mat<T>& x, const arma::Mat<T>& directions, BucketOrder order);

/// The bucket of every row, as its rank among the 2^r buckets in this order. Cost and exceptions as angular_order().
template <typename T>
std::vector<std::uint32_t> bucket_places(const arma::Mat<T>& x, const arma::Mat<T>& directions, BucketOrder order);

}  // namespace croquis
