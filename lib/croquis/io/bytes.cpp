#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <croquis/core/memory.hpp>
#include <croquis/core/require.hpp>
#include <croquis/io/bytes.hpp>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

namespace croquis {

static_assert(std::endian::native == std::endian::little, "the readers copy little-endian numbers");

void refuse_file(const std::string& path, std::string why) {
  // Other bytes could move the cursor of a terminal or change the writing direction.
  std::replace_if(
      why.begin(), why.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  throw std::invalid_argument(as_one_line(fmt::format("{}: {}", path, why)));
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t longest = 100;
  return text.size() <= longest ? std::string(text) : fmt::format("{}...", text.substr(0, longest));
}

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  // The system reads a name up to there, which may be another file's.
  if (path_.find('\0') != std::string::npos) refuse_file(path_, "is no name of a file: it has a NUL");
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor_ < 0) {
    refuse_file(path_,
                errno == ENXIO ? "is not a regular file" : fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  struct stat status {};
  const char* wrong = nullptr;
  if (::fstat(descriptor_, &status) != 0) {
    wrong = "has no size";
  } else if (S_ISDIR(status.st_mode)) {
    wrong = "is a folder, not a file";
  } else if (!S_ISREG(status.st_mode)) {
    wrong = "is not a regular file";
  }
  if (wrong != nullptr) {
    ::close(descriptor_);  // the destructor is not called if the constructor throws
    refuse_file(path_, wrong);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  written_ = status.st_mtim;
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

std::uint64_t InputFile::read_up_to(std::uint64_t first, std::uint64_t count, char* bytes) const {
  constexpr std::uint64_t longest = 1 << 30;  // one call reads 2 GB at most
  std::uint64_t done = 0;
  while (done < count) {
    const ssize_t now =
        ::pread(descriptor_, bytes + done, std::min(count - done, longest), static_cast<off_t>(first + done));
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) refuse_file(path_, "cannot be read to its end");
    if (now == 0) break;
    done += static_cast<std::uint64_t>(now);
  }
  return done;
}

void InputFile::read(std::uint64_t first, std::uint64_t count, char* bytes) const {
  if (read_up_to(first, count, bytes) < count) refuse_file(path_, "cannot be read to its end");
  struct stat now {};
  if (::fstat(descriptor_, &now) != 0 || now.st_mtim.tv_sec != written_.tv_sec ||
      now.st_mtim.tv_nsec != written_.tv_nsec) {
    refuse_file(path_, "was written to while it was being read; start again when it is complete");
  }
}

void InputFile::require_end() const {
  char more = 0;
  if (read_up_to(size_, 1, &more) > 0) {
    refuse_file(path_, fmt::format("has more than the {} bytes that are its size; copy it to a file first", size_));
  }
}

std::string read_bytes(const std::string& path) {
  const InputFile file(path);
  require_memory(static_cast<double>(file.size()), path, {});
  std::string bytes(file.size(), '\0');
  file.read(0, bytes.size(), bytes.data());
  file.require_end();
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
