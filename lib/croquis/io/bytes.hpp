// Common functions of the file readers.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

namespace croquis {

/// A regular file, open for reading. The checks apply to the file that was opened, so no other file can take its place
/// in between. Opening never waits: a FIFO without a writer is refused like everything else that is not a regular file.
/// All members throw std::invalid_argument with the path and the reason.
class InputFile {
 public:
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  /// Size in bytes when the file was opened.
  std::uint64_t size() const { return size_; }
  /// Reads bytes first ... first + count - 1. Throws if the file ends earlier, or has another time of modification than
  /// when it was opened: parts that are read at different times might not belong together.
  void read(std::uint64_t first, std::uint64_t count, char* bytes) const;
  /// Throws if the file has more bytes than size(): it grows, or it has no size (like the files of /proc).
  void require_end() const;

 private:
  /// Fewer than `count` only at the end of the file.
  std::uint64_t read_up_to(std::uint64_t first, std::uint64_t count, char* bytes) const;

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  timespec written_ = {};  // when it was last modified
};

/// All bytes of a regular file. Throws std::invalid_argument with the path and the reason.
std::string read_bytes(const std::string& path);

/// Throws std::invalid_argument "path: why" as one line, even if `why` quotes the contents of the file, of which ASCII
/// is shown, and if `path` ends with the name of an array in it.
[[noreturn]] void refuse_file(const std::string& path, std::string why);

/// The beginning of a text from a file, short enough for a message.
std::string excerpt(std::string_view text);

/// The value of a 16-bit number: IEEE half precision, and bfloat16 (the upper half of a float).
double from_half(std::uint16_t half);
double from_bfloat(std::uint16_t bits);

}  // namespace croquis
