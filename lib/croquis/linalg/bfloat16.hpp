// Products of matrices whose entries are rounded to bfloat16, with sums in float.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace croquis {

/// bfloat16 is the upper half of a float: 8 significant bits, and float's exponents. Rounding is to nearest, ties to
/// even, with a relative error of at most this, 2^-8, but for results that are denormal. They may become zero.
constexpr double kBfloat16Roundoff = 0x1p-8;

/// A matrix of bfloat16, stored by columns, each continued by zeros to an even number of entries.
struct Bfloat16Columns {
  std::size_t rows = 0, stride = 0;
  std::vector<std::uint16_t> values;

  const std::uint16_t* column(std::size_t j) const { return values.data() + j * stride; }
};

/// X (rows x cols, stored by columns without gaps) rounded. Entries must be finite.
Bfloat16Columns bfloat16_columns(const float* x, std::size_t rows, std::size_t cols);

/// x rounded to 8 significant bits, with double's exponents: in float's range the nearest bfloat16, and finite beyond.
double rounded_to_bfloat16(double x);

/// C = A B for A (m x k, float, stored by columns `a_stride` apart, rounded here), B (k x n, rounded already, columns
/// `b_stride` apart) and C (m x n, stored by columns without gaps).
/// Guarantees: products of two bfloat16 are exact in float. Sums are in float, in an order that the processor decides:
///   with AVX-512 BF16 two terms at a time, at twice the rate of float's products; without it one after the other at
///   float's rate. Terms that are denormal may be taken for zero. A row of C does not depend on other rows of A.
void bfloat16_product(std::size_t m, std::size_t n, std::size_t k, const float* a, std::size_t a_stride,
                      const std::uint16_t* b, std::size_t b_stride, float* c);

}  // namespace croquis
