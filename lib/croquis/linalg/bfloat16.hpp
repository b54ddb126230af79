// Products of matrices whose entries are rounded to bfloat16, with sums in float.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace croquis {

/// The unit roundoff of bfloat16, which is the upper half of a float: 8 significant bits, and the exponents of float.
/// Rounding is to nearest, ties to even. Its relative error is at most 2^-8, except for denormal results, which may
/// become zero.
constexpr double kBfloat16Roundoff = 0x1p-8;

/// A matrix of bfloat16, stored by columns. A column with an odd number of entries is continued by a zero.
struct Bfloat16Columns {
  std::size_t rows = 0, stride = 0;
  std::vector<std::uint16_t> values;

  const std::uint16_t* column(std::size_t j) const { return values.data() + j * stride; }
};

/// X (rows x cols, stored by columns without gaps) rounded. Entries must be finite.
Bfloat16Columns bfloat16_columns(const float* x, std::size_t rows, std::size_t cols);

/// x rounded to 8 significant bits, with the exponents of double. Within the range of float this is the nearest
/// bfloat16.
double rounded_to_bfloat16(double x);

/// C = A B for A (m x k, float, with columns `a_stride` apart, rounded here), B (k x n, already rounded, with columns
/// `b_stride` apart; for an odd k, entry k of a column of B must be 0, as in Bfloat16Columns) and C (m x n, by columns
/// without gaps).
/// Guarantees: products of two bfloat16 are exact in float. Sums are in float, in an order that depends on the
///   processor: with AVX-512 BF16 two terms at a time, at twice the rate of products in float; without it one after the
///   other, at the rate of float. Denormal terms may be taken for zero. A row of C does not depend on other rows of A.
void bfloat16_product(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t a_stride,
                      const std::uint16_t* b, std::size_t b_stride, float* c);

}  // namespace croquis
