// Random heads as bytes, for files of every format.
#pragma once

#include <fmt/format.h>

#include <croquis/random/draws.hpp>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/npy_files.hpp"

/// Float32 numbers whose lower half is zero, so that they are bfloat16 numbers too.
inline std::vector<float> head_numbers(const std::string& name, std::size_t count) {
  std::vector<double> normals(count);
  croquis::fill_normal(croquis::Key(7).child(name), 0, count, normals.data());
  std::vector<float> numbers(normals.begin(), normals.end());
  for (float& number : numbers) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    bits &= 0xffff0000;
    std::memcpy(&number, &bits, sizeof bits);
  }
  return numbers;
}

/// The upper halves.
inline std::vector<std::uint16_t> as_bfloat16(const std::vector<float>& numbers) {
  std::vector<std::uint16_t> halves;
  for (const float number : numbers) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    halves.push_back(static_cast<std::uint16_t>(bits >> 16));
  }
  return halves;
}

/// An .npy file in C order.
inline std::string npy_of(const std::vector<std::uint64_t>& shape, const std::string& bytes,
                          const std::string& descr = "<f4") {
  return npy_file(
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, fmt::join(shape, ", ")), bytes);
}
