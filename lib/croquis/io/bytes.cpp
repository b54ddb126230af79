#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/io/bytes.hpp>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <system_error>

namespace croquis {

static_assert(std::endian::native == std::endian::little, "the readers copy little-endian numbers");

void refuse_file(const std::string& path, std::string why) {
  std::replace_if(
      why.begin(), why.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  throw std::invalid_argument(fmt::format("{}: {}", path, why));
}

std::string read_bytes(const std::string& path) {
  std::error_code status;
  const std::filesystem::file_status kind = std::filesystem::status(path, status);
  if (std::filesystem::is_directory(kind)) refuse_file(path, "is a folder, not a file");
  if (std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind)) {
    refuse_file(path, "is not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse_file(path, "cannot be opened");
  const std::uint64_t size = std::filesystem::file_size(path, status);
  if (status) refuse_file(path, "has no size");
  require_memory(static_cast<double>(size), path, {});
  std::string bytes(size, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) refuse_file(path, "cannot be read to its end");
  return bytes;
}

double from_half(std::uint16_t half) {
  const int exponent = (half >> 10) & 31, fraction = half & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

double from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace croquis
