// Peak memory of a piece of work, as the kernel counts it.
#pragma once

#include <cstdint>
#include <functional>

namespace croquis {

/// Runs `work` and returns by how many bytes the process's resident memory rose at its highest above where it was,
/// after memory that is free but kept has been given back. NaN where the kernel does not say (/proc/self/clear_refs).
double peak_bytes_of(const std::function<void()>& work);

/// The most memory that this process has had, in bytes; NaN when the system does not say.
double peak_bytes();

}  // namespace croquis
