#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <croquis/core/require.hpp>
#include <croquis/io/npy.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

namespace croquis {
namespace {

static_assert(std::endian::native == std::endian::little, "read_npy copies little-endian numbers");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint32_t kLongestHeader = 1 << 16;

// One line, also where a damaged header is quoted.
[[noreturn]] void refuse(const std::string& path, std::string why) {
  std::replace_if(
      why.begin(), why.end(), [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  throw std::invalid_argument(fmt::format("{}: {}", path, why));
}

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
  refuse(path, fmt::format("the .npy header has no '{}'", key));
}

Header parse_header(std::string_view text, const std::string& path) {
  Header header;
  const std::string_view descr = value_of(text, "descr", path);
  if (descr[0] != '\'' && descr[0] != '"') refuse(path, "a structured dtype; save a float16, float32 or float64 array");
  const std::size_t close = descr.find(descr[0], 1);
  if (close == std::string_view::npos) refuse(path, "the .npy header is damaged (dtype)");
  header.descr = descr.substr(1, close - 1);

  const std::string_view order = value_of(text, "fortran_order", path);
  if (!order.starts_with("True") && !order.starts_with("False")) refuse(path, "the .npy header is damaged (order)");
  header.fortran = order.starts_with("True");

  const std::string_view shape = value_of(text, "shape", path);
  const std::size_t end = shape.find(')');
  if (shape[0] != '(' || end == std::string_view::npos) refuse(path, "the .npy header is damaged (shape)");
  const char* at = shape.data() + 1;
  const char* stop = shape.data() + end;
  while (at != stop) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    std::uint64_t size = 0;
    const auto [next, error] = std::from_chars(at, stop, size);
    if (error != std::errc{}) refuse(path, "the .npy header is damaged (shape)");
    header.shape.push_back(size);
    at = next;
  }
  return header;
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

template <typename Number, typename Convert>
arma::mat convert(const std::vector<char>& bytes, const Header& header, Convert to_double) {
  const arma::uword rows = header.shape[0], cols = header.shape[1];
  arma::mat matrix(rows, cols);
  for (arma::uword j = 0; j < cols; ++j) {
    for (arma::uword i = 0; i < rows; ++i) {
      const arma::uword position = header.fortran ? j * rows + i : i * cols + j;
      Number number;
      std::memcpy(&number, bytes.data() + position * sizeof(Number), sizeof(Number));
      matrix(i, j) = to_double(number);
    }
  }
  return matrix;
}

std::uint64_t item_size(const std::string& descr, const std::string& path) {
  if (descr == "<f2") return 2;
  if (descr == "<f4") return 4;
  if (descr == "<f8") return 8;
  if (descr.starts_with('>')) refuse(path, fmt::format("big-endian dtype '{}'; save it with astype('<f8')", descr));
  refuse(path, fmt::format("dtype '{}'; save a float16, float32 or float64 array", descr));
}

}  // namespace

arma::mat read_npy(const std::string& path) {
  std::error_code status;
  const std::filesystem::file_status kind = std::filesystem::status(path, status);
  if (std::filesystem::is_directory(kind)) refuse(path, "is a folder, not an .npy file");
  if (std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind)) refuse(path, "is not a regular file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, "cannot be opened");
  const std::uint64_t file_size = std::filesystem::file_size(path, status);
  if (status) refuse(path, "has no size");

  std::array<char, 8> start{};
  if (!file.read(start.data(), start.size()) || std::string_view(start.data(), 6) != kMagic) {
    refuse(path, "is not an .npy file (wrong magic); write one with numpy.save");
  }
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) refuse(path, fmt::format("has .npy format version {}; 1 to 3 are read", version));
  std::uint32_t header_size = 0;
  const std::uint64_t prefix = version == 1 ? 2 : 4;
  if (!file.read(reinterpret_cast<char*>(&header_size), static_cast<std::streamsize>(prefix))) {
    refuse(path, "is truncated in its header");
  }
  if (header_size > kLongestHeader) refuse(path, fmt::format("has a header of {} bytes", header_size));
  std::string text(header_size, '\0');
  if (!file.read(text.data(), header_size)) refuse(path, "is truncated in its header");

  const Header header = parse_header(text, path);
  const std::uint64_t item = item_size(header.descr, path);
  if (header.shape.size() != 2) {
    refuse(path, fmt::format("has {} dimensions; a matrix (tokens, width) has 2", header.shape.size()));
  }
  const std::uint64_t rows = header.shape[0], cols = header.shape[1];
  const std::uint64_t data_size = file_size - start.size() - prefix - header_size;
  const bool overflows = cols != 0 && rows > std::numeric_limits<std::uint64_t>::max() / cols / item;
  if (overflows || rows * cols * item != data_size) {
    refuse(path, fmt::format("has {} bytes of data where shape ({}, {}) of '{}' needs {}", data_size, rows, cols,
                             header.descr, overflows ? "more than 2^64" : std::to_string(rows * cols * item)));
  }
  if (rows == 0 || cols == 0) return arma::mat(rows, cols);  // the other size may be anything
  std::vector<char> bytes(data_size);
  if (!file.read(bytes.data(), static_cast<std::streamsize>(data_size))) refuse(path, "cannot be read to its end");

  if (item == 2) return convert<std::uint16_t>(bytes, header, from_half);
  if (item == 4) return convert<float>(bytes, header, [](float x) { return static_cast<double>(x); });
  return convert<double>(bytes, header, [](double x) { return x; });
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
