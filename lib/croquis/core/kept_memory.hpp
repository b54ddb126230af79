// Freed memory that the process keeps.
#pragma once

namespace croquis {

/// Asks glibc's allocator to keep up to 256 MiB of freed memory, besides up to 64 MiB of each further thread, and to
/// take blocks of up to 64 MiB from it. Without this, the allocator returns the memory of a call of the library to the
/// system, and the next call gets every page anew, which can take several times as long as the computation itself. The
/// setting holds for the whole process. Nothing changes where the environment has settings of the allocator
/// (MALLOC_..., GLIBC_TUNABLES), or with another C library. The program and the Python package call this when they
/// start. The library never does: that is up to its host.
void keep_freed_memory();

}  // namespace croquis
