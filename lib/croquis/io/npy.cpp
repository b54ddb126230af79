#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/npy.hpp>
#include <croquis/io/npy_header.hpp>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace croquis {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint32_t kLongestHeader = 10'000;  // as NumPy
constexpr std::uint64_t kMostHeads = 1 << 14;     // no model has more; a file that says so is damaged

// Matrix `head` of (heads, rows, cols).
template <typename Number, typename Convert>
arma::mat convert(std::string_view data, const NpyHeader& header, std::uint64_t head, Convert to_double) {
  const std::uint64_t heads = header.shape[0], rows = header.shape[1], cols = header.shape[2];
  arma::mat matrix(rows, cols);
  for (arma::uword j = 0; j < cols; ++j) {
    for (arma::uword i = 0; i < rows; ++i) {
      const std::uint64_t position = header.fortran ? head + heads * (i + rows * j) : (head * rows + i) * cols + j;
      Number number;
      std::memcpy(&number, data.data() + position * sizeof(Number), sizeof(Number));
      matrix(i, j) = to_double(number);
    }
  }
  return matrix;
}

std::uint64_t item_size(const std::string& descr, const std::string& path) {
  if (descr == "<f2") return 2;
  if (descr == "<f4") return 4;
  if (descr == "<f8") return 8;
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
  std::uint64_t item = 0;   // bytes of a number
  std::uint64_t start = 0;  // of the data in the file
};

constexpr std::size_t kVersioned = 8, kLongestStart = kVersioned + 4 + kLongestHeader;

// `begin` are the first bytes, kLongestStart of them or all, of a file of `size` bytes.
Layout layout_of(std::string_view begin, std::uint64_t size, const std::string& name) {
  if (begin.size() < kVersioned || !begin.starts_with(kMagic)) {
    refuse_file(name, "is not an .npy file (wrong magic); write one with numpy.save");
  }
  const int version = static_cast<unsigned char>(begin[6]), minor = static_cast<unsigned char>(begin[7]);
  if (version < 1 || version > 3 || minor != 0) {
    refuse_file(name, fmt::format("has .npy format version {}.{}; 1.0, 2.0 and 3.0 are read", version, minor));
  }
  const std::size_t prefix = version == 1 ? 2 : 4;
  std::uint32_t header_size = 0;
  if (begin.size() < kVersioned + prefix) refuse_file(name, "is truncated in its header");
  std::memcpy(&header_size, begin.data() + kVersioned, prefix);
  if (header_size > kLongestHeader)
    refuse_file(name, fmt::format("has a header of {} bytes; at most {} are read", header_size, kLongestHeader));
  if (begin.size() < kVersioned + prefix + header_size) refuse_file(name, "is truncated in its header");
  Layout layout;
  layout.header = parse_npy_header(begin.substr(kVersioned + prefix, header_size), version < 3, name);
  layout.start = kVersioned + prefix + header_size;
  layout.item = item_size(layout.header.descr, name);
  const std::vector<std::uint64_t>& shape = layout.header.shape;
  if (shape.size() != 2 && shape.size() != 3) {
    refuse_file(name, fmt::format("has {} dimensions; a matrix (tokens, width) has 2, heads of one 3", shape.size()));
  }
  std::vector<std::uint64_t> sizes = shape;
  sizes.push_back(layout.item);
  bool overflows = false;
  const std::uint64_t needed = product(sizes, overflows), there = size - layout.start;
  if (overflows || needed != there) {
    refuse_file(name,
                fmt::format("has {} bytes of data where shape ({}) of '{}' needs {}", there, fmt::join(shape, ", "),
                            layout.header.descr, overflows ? "more than 2^64" : std::to_string(needed)));
  }
  return layout;
}

std::vector<arma::mat> convert_all(std::string_view data, const NpyHeader& header, std::uint64_t item) {
  std::vector<arma::mat> heads;
  for (std::uint64_t h = 0; h < header.shape[0]; ++h) {
    const auto widen = [](auto x) { return static_cast<double>(x); };
    heads.push_back(item == 2   ? convert<std::uint16_t>(data, header, h, from_half)
                    : item == 4 ? convert<float>(data, header, h, widen)
                                : convert<double>(data, header, h, widen));
  }
  return heads;
}

// For a file with one matrix.
Layout layout_in(const InputFile& file) {
  std::string begin(std::min<std::uint64_t>(file.size(), kLongestStart), '\0');
  file.read(0, begin.size(), begin.data());
  Layout layout = layout_of(begin, file.size(), file.path());
  if (layout.header.shape.size() != 2) refuse_file(file.path(), "has 3 dimensions; a matrix (tokens, width) has 2");
  return layout;
}

}  // namespace

std::vector<arma::mat> parse_npy(std::string_view bytes, const std::string& name) {
  Layout layout = layout_of(bytes.substr(0, kLongestStart), bytes.size(), name);
  NpyHeader& header = layout.header;
  const std::size_t dimensions = header.shape.size();
  if (dimensions == 3 && header.shape[0] > kMostHeads) {
    refuse_file(name, fmt::format("has {} heads; at most {} are read", header.shape[0], kMostHeads));
  }
  if (dimensions == 2) header.shape.insert(header.shape.begin(), 1);
  const std::string_view data = bytes.substr(layout.start);
  if (data.empty()) {  // the other sizes may be anything
    if (dimensions == 3) refuse_file(name, "has no numbers");
    return {arma::mat(header.shape[1], header.shape[2])};
  }
  const std::size_t numbers = data.size() / layout.item;
  require_memory(static_cast<double>(numbers) * sizeof(double), name, {});
  return convert_all(data, header, layout.item);
}

NpySize npy_size(const std::string& path) {
  const InputFile file(path);
  const Layout layout = layout_in(file);
  return {layout.header.shape[0], layout.header.shape[1]};
}

arma::mat read_npy_rows(const std::string& path, arma::uword first, arma::uword count) {
  const InputFile file(path);
  const Layout layout = layout_in(file);
  const std::uint64_t rows = layout.header.shape[0], cols = layout.header.shape[1];
  require(first <= rows && count <= rows - first, "read_npy_rows", "rows that the file has",
          {{"first", first}, {"count", count}, {"rows", rows}});
  if (count == 0 || cols == 0) return arma::mat(count, cols);  // the other sizes may be anything
  // The rows are one piece in C order and one a column in Fortran order.
  const std::uint64_t pieces = layout.header.fortran ? cols : 1;
  const std::uint64_t piece = (layout.header.fortran ? count : count * cols) * layout.item;
  const std::uint64_t offset = (layout.header.fortran ? first : first * cols) * layout.item;
  const std::uint64_t stride = rows * layout.item;
  const double numbers = static_cast<double>(count) * static_cast<double>(cols);
  require_memory(numbers * static_cast<double>(layout.item + sizeof(double)), path, {});
  std::string data(pieces * piece, '\0');
  for (std::uint64_t i = 0; i < pieces; ++i) {
    file.read(layout.start + offset + i * stride, piece, data.data() + i * piece);
  }
  NpyHeader header = layout.header;
  header.shape = {1, count, cols};
  return convert_all(data, header, layout.item).front();
}

std::vector<arma::mat> read_npy_heads(const std::string& path) {
  return parse_npy(read_bytes(path), path);
}

arma::mat read_npy(const std::string& path) {
  std::vector<arma::mat> heads = read_npy_heads(path);
  if (heads.size() != 1) {
    refuse_file(path, fmt::format("has 3 dimensions, {} heads; a matrix (tokens, width) has 2", heads.size()));
  }
  return std::move(heads.front());
}

std::string npy_bytes(const arma::mat& matrix) {
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': True, 'shape': ({}, {}), }}", matrix.n_rows, matrix.n_cols);
  constexpr std::size_t alignment = 64, prefix = 10;
  header.append((alignment - (prefix + header.size() + 1) % alignment) % alignment, ' ');
  header += '\n';
  const auto size = static_cast<std::uint16_t>(header.size());
  std::string bytes(kMagic);
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
