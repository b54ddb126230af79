// Files that are written whole or not at all: a process that is killed, or a disk that is full, leaves what was there.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

/// A file that takes the place of `path` once it is whole. Until then it has no name where the file system allows that,
/// and elsewhere an unpredictable one, so that a process that is killed leaves nothing behind and no link planted in
/// the folder is followed.
class WholeFile {
 public:
  /// Opens the new file in the folder of target_of(path). Throws as target_of, and std::runtime_error when the folder
  /// cannot be written.
  explicit WholeFile(const std::string& path);
  /// Removes what has not been published.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  int descriptor() const { return descriptor_; }
  /// Throws std::runtime_error "path: cannot be written: reason".
  void write(std::string_view text);
  /// The file becomes `path`. Throws std::runtime_error.
  void publish();
  /// The open descriptor, which is the caller's from here on.
  int release();

 private:
  [[noreturn]] void fail() const;

  std::string path_, target_, temporary_;  // `temporary_` is empty while the file has no name
  int descriptor_ = -1;
};

/// `path` becomes `text`. Throws as WholeFile.
void write_whole(const std::string& path, const std::string& text);

/// The file that writing to `path` writes: `path` itself or, where that is a symbolic link, what it points to. Throws
/// std::invalid_argument for what is there and is no regular file (a folder, a pipe, a device), for a name that is too
/// long, and for a link to an open descriptor, as /dev/stdout is and - is meant to be: results have other files beside
/// them.
std::string target_of(const std::string& path);

/// What a file begins with, enough for a line of columns; it may be anything, of any size. Empty when it cannot be
/// read.
std::string first_bytes(const std::string& path);
std::string first_bytes(int descriptor);

/// Whether both describe one file of the system.
bool is_same_file(const struct stat& a, const struct stat& b);
