#include <fmt/format.h>

#include <croquis/core/counted.hpp>
#include <croquis/core/require.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/io/npy_header.hpp>
#include <cstdint>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace croquis {
namespace {

NumberType type_of(const std::string& descr, const std::string& path) {
  if (descr == "<f2") return NumberType::float16;
  if (descr == "<f4") return NumberType::float32;
  if (descr == "<f8") return NumberType::float64;
  if (descr == "|V2" || descr == "<V2") return NumberType::bfloat16;
  if (descr.starts_with('>'))
    refuse_file(path, fmt::format("big-endian dtype '{}'; save it with astype('<f8')", excerpt(descr)));
  refuse_file(path, fmt::format("dtype '{}'; save a float16, float32 or float64 array", excerpt(descr)));
}

// Returns 2^64 for a product that does not fit.
std::uint64_t product(const std::vector<std::uint64_t>& sizes, bool& overflows) {
  std::uint64_t result = 1;
  overflows = false;
  for (const std::uint64_t size : sizes) {
    if (size == 0) {
      overflows = false;
      return 0;
    }
    overflows = overflows || result > std::numeric_limits<std::uint64_t>::max() / size;
    result *= size;
  }
  return result;
}

// The position and type of the numbers in a file.
struct Layout {
  NpyHeader header;
  NumberType type = NumberType::float64;
  std::uint64_t start = 0;  // of the data in the file
};

// `begin` are the first bytes, kLongestNpyStart of them or all, of a file of `size` bytes. Where vectors are read, one
// is a column.
Layout layout_of(std::string_view begin, std::uint64_t size, const std::string& name, bool reads_vectors) {
  Layout layout;
  NpyStart start = parse_npy_start(begin, name);
  layout.header = std::move(start.header);
  layout.start = start.data;
  layout.type = type_of(layout.header.descr, name);
  std::vector<std::uint64_t>& shape = layout.header.shape;
  if (reads_vectors && shape.size() == 1) shape.push_back(1);
  if (shape.size() < 2 || shape.size() > 4) {
    refuse_file(name, fmt::format("has {}; a matrix (tokens, width) has 2, heads of one 3, a batch of heads 4",
                                  counted(shape.size(), "dimension")));
  }
  std::vector<std::uint64_t> sizes = shape;
  sizes.push_back(size_of(layout.type));
  bool overflows = false;
  const std::uint64_t needed = product(sizes, overflows), there = size - layout.start;
  if (overflows || needed != there) {
    refuse_file(name,
                fmt::format("has {} bytes of data where shape ({}) of '{}' needs {}", there, fmt::join(shape, ", "),
                            layout.header.descr, overflows ? "more than 2^64" : std::to_string(needed)));
  }
  return layout;
}

StoredArray array_in(const SharedBytes& source, bool reads_vectors) {
  Layout layout = layout_of(read_some(*source, 0, kLongestNpyStart), source->size(), source->name(), reads_vectors);
  NpyHeader& header = layout.header;
  return {source, source->name(), ArrayLayout::of(layout.type, layout.start, std::move(header.shape), header.fortran)};
}

// For a file with one matrix.
StoredArray matrix_in(const std::string& path) {
  StoredArray array = npy_array(bytes_of_file(path));
  if (array.dimensions() != 2) {
    refuse_file(path, fmt::format("has {}; a matrix (tokens, width) has 2", counted(array.dimensions(), "dimension")));
  }
  return array;
}

arma::mat only_matrix(const StoredArray& array, const std::string& path) {
  if (array.heads() != 1) {
    refuse_file(path, fmt::format("has {} dimensions, {} heads; a matrix (tokens, width) has 2", array.dimensions(),
                                  array.heads()));
  }
  return array.matrix();
}

}  // namespace

StoredArray npy_array(const SharedBytes& source) {
  return array_in(source, false);
}

std::vector<arma::mat> parse_npy(std::string_view bytes, const std::string& name) {
  return npy_array(bytes_in_memory(bytes, name)).matrices();
}

NpySize npy_size(const std::string& path) {
  const StoredArray array = matrix_in(path);
  return {array.rows(), array.cols()};
}

arma::mat read_npy_rows(const std::string& path, arma::uword first, arma::uword count) {
  const StoredArray array = matrix_in(path);
  require(first <= array.rows() && count <= array.rows() - first, "read_npy_rows", "rows that the file has",
          {{"first", first}, {"count", count}, {"rows", array.rows()}});
  return array.rows(0, first, count);
}

std::vector<arma::mat> read_npy_heads(const std::string& path) {
  return npy_array(bytes_of_file(path)).matrices();
}

arma::mat read_npy(const std::string& path) {
  return only_matrix(npy_array(bytes_of_file(path)), path);
}

arma::mat read_npy_or_vector(const std::string& path) {
  return only_matrix(array_in(bytes_of_file(path), true), path);
}

std::string npy_bytes(const arma::mat& matrix) {
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': True, 'shape': ({}, {}), }}", matrix.n_rows, matrix.n_cols);
  constexpr std::size_t alignment = 64, prefix = 10;
  header.append((alignment - (prefix + header.size() + 1) % alignment) % alignment, ' ');
  header += '\n';
  const auto size = static_cast<std::uint16_t>(header.size());
  std::string bytes("\x93NUMPY");
  bytes.append({'\x01', '\0'});
  bytes.append(reinterpret_cast<const char*>(&size), 2);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(matrix.memptr()), matrix.n_elem * sizeof(double));
  return bytes;
}

void write_npy(const std::string& path, const arma::mat& matrix) {
  std::ofstream file(path, std::ios::binary);
  file << npy_bytes(matrix);
  file.flush();
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

}  // namespace croquis
