// What a number was obtained with.
#pragma once

#include <string>

/// Version, commit, compiler, BLAS, vector instructions, processor and libraries, for --version.
std::string environment_text();

/// Room for the buffers of BLAS in that many threads, and memory that is kept once it is freed. Throws
/// std::invalid_argument for more than one thread on a serial OpenBLAS, which is not safe to call from several.
void prepare_threads(int threads);

/// At its end, what is free goes back to the system, if the memory of the process has grown by more than 16 MiB since
/// this was done before. For the matrices of one head after another: rows and names between them leave holes in the
/// memory that is kept, which the C library does not fill again. Declared before the matrices, which are then free.
class ReturnedMemory {
 public:
  ReturnedMemory() = default;
  ~ReturnedMemory();
  ReturnedMemory(const ReturnedMemory&) = delete;
  ReturnedMemory& operator=(const ReturnedMemory&) = delete;
};
