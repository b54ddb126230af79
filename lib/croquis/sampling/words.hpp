// Distances of words of bits, and sums of their bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace croquis {

constexpr std::size_t kWordBits = 64;

/// The index of the centroid at the smallest Hamming distance from each word, the first one if several are nearest.
/// There are from 1 to 2^32 centroids.
void nearest_words(const std::uint64_t* words, std::size_t count, const std::uint64_t* centroids,
                   std::size_t centroid_count, std::uint32_t* nearest);

/// ones[b] <- ones[b] + bit b of the word, for b < kWordBits.
void add_bits(std::uint64_t word, std::uint64_t* ones);

}  // namespace croquis
