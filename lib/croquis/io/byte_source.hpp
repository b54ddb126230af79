// Random access to the bytes of a file, of a member of an archive, or of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace croquis {

/// The source of the readers of arrays, so that a file need not be in memory. Thread-safe.
class ByteSource {
 public:
  ByteSource() = default;
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// The path of the file, as it appears in messages.
  virtual const std::string& name() const = 0;
  virtual std::uint64_t size() const = 0;
  /// Reads bytes first ... first + count - 1. Throws std::invalid_argument with the name if there are fewer.
  virtual void read(std::uint64_t first, std::uint64_t count, char* bytes) const = 0;
};

using SharedBytes = std::shared_ptr<const ByteSource>;

/// A regular file, which stays open. Throws std::invalid_argument as InputFile, also for a file with more bytes than
/// its size.
SharedBytes bytes_of_file(const std::string& path);

/// Bytes in memory, which must outlive the result.
SharedBytes bytes_in_memory(std::string_view bytes, const std::string& name);
/// The same for bytes that the result owns.
SharedBytes bytes_in_memory(std::string&& bytes, const std::string& name);

/// `count` bytes from `first` on, or as many as there are.
std::string read_some(const ByteSource& source, std::uint64_t first, std::uint64_t count);

}  // namespace croquis
