// The number of threads of the library, and parallel loops.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>

namespace croquis {

/// Sets the number of threads of the library's loops. 0 restores the default: one thread for each processor that the
/// process may run on, counted when it is first needed after this call. The host's settings of OpenMP and BLAS are
/// neither used nor changed. Results have the same bits for any number of threads. Throws std::invalid_argument for
/// count < 0.
void set_threads(int count);
/// The number of threads of the library's loops.
int threads();

/// Bytes of stack that a thread must have. The largest need that was measured, in croquis error with all methods, is a
/// third of this.
inline constexpr std::size_t kLeastStack = std::size_t{512} << 10;

/// Calls body(0), ..., body(count - 1) in any order on up to threads() threads; inside another parallel loop one after
/// the other. The first exception is rethrown when all threads have stopped. BLAS runs on one thread inside. An
/// Interruptible of the caller (interruption.hpp) can stop the loop between bodies.
/// Throws: what the bodies throw; std::runtime_error if the system gives fewer threads than requested,
/// or OMP_STACKSIZE less than kLeastStack.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

/// The same in groups of consecutive indices, for bodies of about `work` flops or draws each. A loop that is too short
/// to gain from several threads runs on the calling thread.
inline void parallel_for(std::size_t count, std::size_t work, const std::function<void(std::size_t)>& body) {
  constexpr std::size_t least = 1 << 15;  // some ten microseconds, what a team of threads costs to start
  const std::size_t group = std::max<std::size_t>(1, least / std::max<std::size_t>(1, work));
  parallel_for((count + group - 1) / group, [&](std::size_t g) {
    const std::size_t end = std::min(count, (g + 1) * group);
    for (std::size_t i = g * group; i < end; ++i) body(i);
  });
}

/// The number of blocks of `block` in `count`, the last one perhaps shorter: ceil(count / block).
template <typename Count>
Count blocks_of(Count count, Count block) {
  return (count + block - 1) / block;
}

}  // namespace croquis
