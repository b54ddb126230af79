// Peak memory of a function call or of the process, as the kernel counts it.
#pragma once

#include <functional>

namespace croquis {

/// Runs `work` and returns the peak of the process's resident memory during it, less the resident memory before it, in
/// bytes. Free memory that the allocator keeps is first returned to the system. NaN if the kernel does not support it
/// (/proc/self/clear_refs).
double peak_bytes_of(const std::function<void()>& work);

/// The peak resident memory of this process, in bytes, since it started or since the last call of peak_bytes_of(). NaN
/// if the kernel does not say.
double peak_bytes();

/// The resident memory of this process now, in bytes. NaN if the kernel does not say.
double resident_bytes();

}  // namespace croquis
