// Products with a few columns of a matrix, given by index, for sparse attention.
#pragma once

#include <cstddef>
#include <cstdint>

namespace croquis {

/// out[e] = x . m_e for e = 0 ... count - 1, where m_e is column index[e] of a matrix whose columns have `rows` entries
/// each and are stored without gaps.
void dots(const float* x, const float* matrix, std::size_t rows, const std::uint32_t* index, std::size_t count,
          float* out);
void dots(const double* x, const double* matrix, std::size_t rows, const std::uint32_t* index, std::size_t count,
          double* out);

/// out = sum_e weight[e] m_e (`rows` entries). The terms are added in order.
void weighted_sum(const float* weight, const float* matrix, std::size_t rows, const std::uint32_t* index,
                  std::size_t count, float* out);
void weighted_sum(const double* weight, const double* matrix, std::size_t rows, const std::uint32_t* index,
                  std::size_t count, double* out);

/// out[e] = m_e . m_e for all columns e = 0 ... count - 1.
void squared_norms(const float* matrix, std::size_t rows, std::size_t count, float* out);
void squared_norms(const double* matrix, std::size_t rows, std::size_t count, double* out);

}  // namespace croquis
