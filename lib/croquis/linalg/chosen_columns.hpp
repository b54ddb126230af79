// Products with a few columns of a matrix, chosen by index: what sparse attention consists of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace croquis {

/// out[e] = x . m_e, e = 0 ... count - 1, where m_e is column index[e] of a matrix with `rows` contiguous entries a
/// column.
template <typename T>
void dots(const T* x, const T* matrix, std::size_t rows, const std::uint32_t* index, std::size_t count, T* out);

/// out = sum_e weight[e] m_e, `rows` entries, the terms added in order.
template <typename T>
void weighted_sum(const T* weight, const T* matrix, std::size_t rows, const std::uint32_t* index, std::size_t count,
                  T* out);

}  // namespace croquis
