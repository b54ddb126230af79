#include <fmt/format.h>

#include <charconv>
#include <croquis/io/bytes.hpp>
#include <croquis/io/npy_header.hpp>
#include <cstring>
#include <set>
#include <system_error>

namespace croquis {
namespace {

constexpr std::string_view kSpace = " \t\n\r\f";

class Parser {
 public:
  Parser(std::string_view text, bool long_sizes, const std::string& name)
      : text_(text), long_sizes_(long_sizes), name_(name) {}

  NpyHeader header() {
    skip(" \t");  // before a literal, a line's end is an error of indentation
    if (!take('{')) damaged("no dictionary");
    NpyHeader header;
    std::set<std::string_view> keys;
    while (!take('}')) {
      const std::string_view key = string("no key in quotes");
      if (!keys.insert(key).second) damaged(fmt::format("the key '{}' twice", excerpt(key)));
      if (!take(':')) damaged(fmt::format("no colon after '{}'", excerpt(key)));
      value(key, header);
      if (take(',')) continue;
      if (!take('}')) damaged("no comma or closing brace");
      break;
    }
    if (at_ != text_.size()) damaged("something after the dictionary");
    for (const char* key : {"descr", "fortran_order", "shape"}) {
      if (!keys.contains(key)) refuse_file(name_, fmt::format("the .npy header has no '{}'", key));
    }
    return header;
  }

 private:
  [[noreturn]] void damaged(const std::string& what) const {
    refuse_file(name_, fmt::format("the .npy header is damaged ({})", what));
  }

  void skip(std::string_view characters) { at_ = std::min(text_.find_first_not_of(characters, at_), text_.size()); }
  bool is_next(char c) const { return at_ < text_.size() && text_[at_] == c; }

  // White space after a token is skipped with it.
  bool take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    skip(kSpace);
    return true;
  }
  bool take(char c) { return take(std::string_view(&c, 1)); }

  std::string_view string(const char* otherwise) {
    if (!is_next('\'') && !is_next('"')) damaged(otherwise);
    const std::size_t begin = at_ + 1, end = text_.find(text_[at_], begin);
    if (end == std::string_view::npos) damaged(otherwise);
    at_ = end + 1;
    skip(kSpace);
    return text_.substr(begin, end - begin);
  }

  std::uint64_t size() {
    std::uint64_t size = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
    if (error != std::errc{} || (*begin == '0' && end - begin > 1)) damaged("shape");
    at_ += static_cast<std::size_t>(end - begin);
    if (long_sizes_ && is_next('L')) ++at_;
    skip(kSpace);
    return size;
  }

  // (), (3,), (3, 4), (3, 4,); (3) is a number.
  std::vector<std::uint64_t> tuple() {
    if (!take('(')) damaged("shape");
    std::vector<std::uint64_t> sizes;
    while (!take(')')) {
      sizes.push_back(size());
      if (take(',')) continue;
      if (sizes.size() < 2 || !take(')')) damaged("shape");
      break;
    }
    return sizes;
  }

  void value(std::string_view key, NpyHeader& header) {
    if (key == "descr") {
      if (is_next('[') || is_next('(')) {
        refuse_file(name_, "a structured dtype; save a float16, float32 or float64 array");
      }
      header.descr = string("dtype");
    } else if (key == "fortran_order") {
      header.fortran = take("True");
      if (!header.fortran && !take("False")) damaged("order");
    } else if (key == "shape") {
      header.shape = tuple();
    } else {
      damaged(fmt::format("the key '{}'; descr, fortran_order and shape are read", excerpt(key)));
    }
  }

  std::string_view text_;
  bool long_sizes_;
  const std::string& name_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text, bool long_sizes, const std::string& name) {
  return Parser(text, long_sizes, name).header();
}

NpyStart parse_npy_start(std::string_view begin, const std::string& name) {
  constexpr std::string_view magic = "\x93NUMPY";
  constexpr std::size_t versioned = 8;
  if (begin.size() < versioned || !begin.starts_with(magic)) {
    refuse_file(name, "is not an .npy file (wrong magic); write one with numpy.save");
  }
  const int version = static_cast<unsigned char>(begin[6]), minor = static_cast<unsigned char>(begin[7]);
  if (version < 1 || version > 3 || minor != 0) {
    refuse_file(name, fmt::format("has .npy format version {}.{}; 1.0, 2.0 and 3.0 are read", version, minor));
  }
  const std::size_t prefix = version == 1 ? 2 : 4;
  std::uint32_t header_size = 0;
  if (begin.size() < versioned + prefix) refuse_file(name, "is truncated in its header");
  std::memcpy(&header_size, begin.data() + versioned, prefix);
  if (header_size > kLongestNpyHeader) {
    refuse_file(name, fmt::format("has a header of {} bytes; at most {} are read", header_size, kLongestNpyHeader));
  }
  if (begin.size() < versioned + prefix + header_size) refuse_file(name, "is truncated in its header");
  return {parse_npy_header(begin.substr(versioned + prefix, header_size), version < 3, name),
          versioned + prefix + header_size};
}

}  // namespace croquis
