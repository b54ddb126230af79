// Limits on the address space (ulimit -v) that OpenBLAS would not survive: where it cannot have a work buffer it tries
// again for ever. A check of the executable runs before OpenBLAS starts; see address_space.cpp.
#pragma once

/// Takes the work buffers of OpenBLAS for so many threads while there is room for them. Without a limit it does
/// nothing. Throws std::invalid_argument, with the limit that would do, when they do not fit.
void reserve_blas_buffers(int threads);
