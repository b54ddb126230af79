// Threads of the library: one number, and loops over independent blocks.
#pragma once

#include <cstddef>
#include <functional>

namespace croquis {

/// Number of threads of the loops of the library; 0 gives back the default, one a processor.
void set_threads(int count);
int threads();

/// body(0), ..., body(count - 1) in any order on up to threads() threads; inside another parallel loop one after the
/// other. The first exception is thrown again when all have stopped. BLAS runs single-threaded inside.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

}  // namespace croquis
