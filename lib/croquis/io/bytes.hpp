// What the readers of files have in common.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace croquis {

/// A regular file, open for reading. What was opened is what is looked at, so that no other can take its place between
/// the two, and opening never waits: a FIFO without a writer is refused like any other that is no regular file.
/// All members throw std::invalid_argument with the path and the reason.
class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  /// In bytes, when it was opened.
  std::uint64_t size() const { return size_; }
  /// Bytes first ... first + count - 1; refuses a file that ends before.
  void read(std::uint64_t first, std::uint64_t count, char* bytes) const;
  /// Refuses a file with more bytes than size(): one that grows, or that has no size, as those of /proc.
  void require_end() const;

 private:
  /// Fewer than `count` only at the end of the file.
  std::uint64_t read_up_to(std::uint64_t first, std::uint64_t count, char* bytes) const;

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The bytes of a regular file, all of them. Throws std::invalid_argument with the path and the reason.
std::string read_bytes(const std::string& path);

/// Throws std::invalid_argument "path: why" in one line of ASCII, also where `why` quotes what the file has in it.
[[noreturn]] void refuse_file(const std::string& path, std::string why);

/// The beginning of what a file has in it, short enough for a message.
std::string excerpt(std::string_view text);

/// The number that 16 bits mean: IEEE half precision, and bfloat16 (the upper half of a float).
double from_half(std::uint16_t half);
double from_bfloat(std::uint16_t bits);

}  // namespace croquis
