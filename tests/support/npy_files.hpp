// Files in NumPy's .npy format, made by hand: right ones and wrong ones.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

template <typename Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// Magic, version, length of the header (two bytes in version 1, four after), header, data.
inline std::string npy_file(const std::string& header, const std::string& data, int version = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(version);
  file += '\0';
  const auto size = static_cast<std::uint32_t>(header.size());
  for (int byte = 0; byte < (version == 1 ? 2 : 4); ++byte) file += static_cast<char>(size >> (8 * byte) & 0xff);
  return file + header + data;
}

/// Numbers as numpy.save writes a float64 array of this shape: "(2, 3)" or "(6,)".
inline std::string npy_doubles(const std::string& shape, const std::vector<double>& numbers) {
  return npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + ", }\n", bytes_of(numbers));
}

/// Whole numbers as numpy.save writes an int64 array of this shape: "(2, 3)" or "(6,)".
inline std::string npy_integers(const std::string& shape, const std::vector<std::int64_t>& numbers) {
  return npy_file("{'descr': '<i8', 'fortran_order': False, 'shape': " + shape + ", }\n", bytes_of(numbers));
}
