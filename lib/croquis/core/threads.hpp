// Threads of the library: one number, and loops over independent blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

namespace croquis {

/// Number of threads of the loops of the library; 0 restores the default, one thread per processor. It is a number of
/// the library alone: what the host has set for OpenMP or BLAS is neither used nor changed, and results have the same
/// bits for any number.
void set_threads(int count);
int threads();

/// body(0), ..., body(count - 1) in any order on up to threads() threads; inside another parallel loop one after the
/// other. The first exception is thrown again when all have stopped. BLAS runs on one thread inside. Where the caller
/// is Interruptible (interruption.hpp), the loop can be stopped between bodies.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

/// The same in groups of consecutive indices, for bodies of about `work` flops or draws each: a loop too short to gain
/// by threads stays on the one that calls.
inline void parallel_for(std::size_t count, std::size_t work, const std::function<void(std::size_t)>& body) {
  constexpr std::size_t least = 1 << 15;  // some ten microseconds, what a team of threads costs to start
  const std::size_t group = std::max<std::size_t>(1, least / std::max<std::size_t>(1, work));
  parallel_for((count + group - 1) / group, [&](std::size_t g) {
    const std::size_t end = std::min(count, (g + 1) * group);
    for (std::size_t i = g * group; i < end; ++i) body(i);
  });
}

/// Blocks of `block` in `count`, the last one perhaps shorter.
template <typename Count>
Count blocks_of(Count count, Count block) {
  return (count + block - 1) / block;
}

}  // namespace croquis
