// Random words by position.
#pragma once

#include <croquis/core/random.hpp>
#include <cstdint>

namespace croquis {

/// out[i] = u_{first + i}, i = 0 ... count-1, where u_k is the 64-bit word of half k % 2 of block k / 2.
/// Randomness: u_k depends on the key and k alone.
void fill_words(const Key& key, std::uint64_t first, std::uint64_t count, std::uint64_t* out);

}  // namespace croquis
