#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/io/bytes.hpp>
#include <croquis/io/npy.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace croquis {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint32_t kLongestHeader = 1 << 16;
constexpr std::uint64_t kMostHeads = 1 << 14;  // no model has more; a file that says so is damaged

struct Header {
  std::string descr;
  bool fortran = false;
  std::vector<std::uint64_t> shape;
};

// What stands after `'key':` in the header's Python dictionary.
std::string_view value_of(std::string_view dictionary, std::string_view key, const std::string& path) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = fmt::format("{0}{1}{0}", quote, key);
    const std::size_t at = dictionary.find(quoted);
    if (at == std::string_view::npos) continue;
    const std::size_t colon = dictionary.find(':', at + quoted.size());
    if (colon == std::string_view::npos) break;
    const std::size_t start = dictionary.find_first_not_of(' ', colon + 1);
    if (start == std::string_view::npos) break;
    return dictionary.substr(start);
  }
  refuse_file(path, fmt::format("the .npy header has no '{}'", key));
}

Header parse_header(std::string_view text, const std::string& path) {
  Header header;
  const std::string_view descr = value_of(text, "descr", path);
  if (descr[0] != '\'' && descr[0] != '"')
    refuse_file(path, "a structured dtype; save a float16, float32 or float64 array");
  const std::size_t close = descr.find(descr[0], 1);
  if (close == std::string_view::npos) refuse_file(path, "the .npy header is damaged (dtype)");
  header.descr = descr.substr(1, close - 1);

  const std::string_view order = value_of(text, "fortran_order", path);
  if (!order.starts_with("True") && !order.starts_with("False"))
    refuse_file(path, "the .npy header is damaged (order)");
  header.fortran = order.starts_with("True");

  const std::string_view shape = value_of(text, "shape", path);
  const std::size_t end = shape.find(')');
  if (shape[0] != '(' || end == std::string_view::npos) refuse_file(path, "the .npy header is damaged (shape)");
  const char* at = shape.data() + 1;
  const char* stop = shape.data() + end;
  while (at != stop) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    std::uint64_t size = 0;
    const auto [next, error] = std::from_chars(at, stop, size);
    if (error != std::errc{}) refuse_file(path, "the .npy header is damaged (shape)");
    header.shape.push_back(size);
    at = next;
  }
  return header;
}

// Matrix `head` of (heads, rows, cols).
template <typename Number, typename Convert>
arma::mat convert(std::string_view data, const Header& header, std::uint64_t head, Convert to_double) {
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
    refuse_file(path, fmt::format("big-endian dtype '{}'; save it with astype('<f8')", descr));
  refuse_file(path, fmt::format("dtype '{}'; save a float16, float32 or float64 array", descr));
}

// 2^64 for one that does not fit.
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

// Where the numbers of a file are.
struct Layout {
  Header header;
  std::uint64_t item = 0;   // bytes of a number
  std::uint64_t start = 0;  // of the data in the file
};

constexpr std::size_t kVersioned = 8, kLongestStart = kVersioned + 4 + kLongestHeader;

// `begin` are the first bytes, kLongestStart of them or all, of a file of `size` bytes.
Layout layout_of(std::string_view begin, std::uint64_t size, const std::string& name) {
  if (begin.size() < kVersioned || !begin.starts_with(kMagic)) {
    refuse_file(name, "is not an .npy file (wrong magic); write one with numpy.save");
  }
  const int version = static_cast<unsigned char>(begin[6]);
  if (version < 1 || version > 3)
    refuse_file(name, fmt::format("has .npy format version {}; 1 to 3 are read", version));
  const std::size_t prefix = version == 1 ? 2 : 4;
  std::uint32_t header_size = 0;
  if (begin.size() < kVersioned + prefix) refuse_file(name, "is truncated in its header");
  std::memcpy(&header_size, begin.data() + kVersioned, prefix);
  if (header_size > kLongestHeader) refuse_file(name, fmt::format("has a header of {} bytes", header_size));
  if (begin.size() < kVersioned + prefix + header_size) refuse_file(name, "is truncated in its header");
  Layout layout;
  layout.header = parse_header(begin.substr(kVersioned + prefix, header_size), name);
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

std::vector<arma::mat> convert_all(std::string_view data, const Header& header, std::uint64_t item) {
  std::vector<arma::mat> heads;
  for (std::uint64_t h = 0; h < header.shape[0]; ++h) {
    const auto widen = [](auto x) { return static_cast<double>(x); };
    heads.push_back(item == 2   ? convert<std::uint16_t>(data, header, h, from_half)
                    : item == 4 ? convert<float>(data, header, h, widen)
                                : convert<double>(data, header, h, widen));
  }
  return heads;
}

// Of a file with one matrix.
Layout layout_in(std::ifstream& file, const std::string& path) {
  std::error_code status;
  const std::uint64_t size = std::filesystem::file_size(path, status);
  if (status || !file) refuse_file(path, "cannot be opened");
  std::string begin(std::min<std::uint64_t>(size, kLongestStart), '\0');
  if (!file.read(begin.data(), static_cast<std::streamsize>(begin.size()))) refuse_file(path, "cannot be read");
  Layout layout = layout_of(begin, size, path);
  if (layout.header.shape.size() != 2) refuse_file(path, "has 3 dimensions; a matrix (tokens, width) has 2");
  return layout;
}

}  // namespace

std::vector<arma::mat> parse_npy(std::string_view bytes, const std::string& name) {
  Layout layout = layout_of(bytes.substr(0, kLongestStart), bytes.size(), name);
  Header& header = layout.header;
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
  std::ifstream file(path, std::ios::binary);
  const Layout layout = layout_in(file, path);
  return {layout.header.shape[0], layout.header.shape[1]};
}

arma::mat read_npy_rows(const std::string& path, arma::uword first, arma::uword count) {
  std::ifstream file(path, std::ios::binary);
  const Layout layout = layout_in(file, path);
  const std::uint64_t rows = layout.header.shape[0], cols = layout.header.shape[1];
  require(first <= rows && count <= rows - first, "read_npy_rows", "rows that the file has",
          {{"first", first}, {"count", count}, {"rows", rows}});
  // The rows are one piece in C order and one a column in Fortran order.
  const std::uint64_t pieces = layout.header.fortran ? cols : 1;
  const std::uint64_t piece = (layout.header.fortran ? count : count * cols) * layout.item;
  const std::uint64_t offset = (layout.header.fortran ? first : first * cols) * layout.item;
  const std::uint64_t stride = rows * layout.item;
  std::string data(pieces * piece, '\0');
  for (std::uint64_t i = 0; i < pieces; ++i) {
    file.seekg(static_cast<std::streamoff>(layout.start + offset + i * stride));
    if (!file.read(data.data() + i * piece, static_cast<std::streamsize>(piece))) {
      refuse_file(path, "cannot be read to its end");
    }
  }
  if (data.empty()) return arma::mat(count, cols);
  Header header = layout.header;
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

void write_npy(const std::string& path, const arma::mat& matrix) {
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': True, 'shape': ({}, {}), }}", matrix.n_rows, matrix.n_cols);
  constexpr std::size_t alignment = 64, prefix = 10;
  header.append((alignment - (prefix + header.size() + 1) % alignment) % alignment, ' ');
  header += '\n';
  const auto size = static_cast<std::uint16_t>(header.size());
  std::ofstream file(path, std::ios::binary);
  file << kMagic << '\x01' << '\0';
  file.write(reinterpret_cast<const char*>(&size), 2);
  file << header;
  file.write(reinterpret_cast<const char*>(matrix.memptr()),
             static_cast<std::streamsize>(matrix.n_elem * sizeof(double)));
  file.flush();
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

}  // namespace croquis
