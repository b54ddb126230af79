// What the readers of files have in common.
#pragma once

#include <cstdint>
#include <string>

namespace croquis {

/// The bytes of a regular file. Throws std::invalid_argument with the path and the reason.
std::string read_bytes(const std::string& path);

/// Throws std::invalid_argument "path: why" in one line, also where `why` quotes what the file has in it.
[[noreturn]] void refuse_file(const std::string& path, std::string why);

/// The number that 16 bits mean: IEEE half precision, and bfloat16 (the upper half of a float).
double from_half(std::uint16_t half);
double from_bfloat(std::uint16_t bits);

}  // namespace croquis
