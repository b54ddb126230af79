#include "files/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <utility>

namespace {

namespace fs = std::filesystem;

constexpr mode_t kMode = 0644;

// A template of mkostemp in the folder of `target`. It is short: the name of the target may be as long as names can be.
std::string temporary_beside(const std::string& target) {
  return (fs::path(target).parent_path() / ".croquis-XXXXXX").string();
}

// Gives the file without a name that `descriptor` has open a name that nobody has. False, with errno, when it cannot.
// The system has no call that puts such a file in the place of another: a process that is killed between this and the
// rename, two calls, leaves the hidden name behind.
bool link_to_new_name(int descriptor, const std::string& target, std::string& name) {
  constexpr int tries = 100;
  const std::string open_file = fmt::format("/proc/self/fd/{}", descriptor);
  std::random_device system;
  for (int i = 0; i < tries; ++i) {
    name = temporary_beside(target);
    name.replace(name.size() - 6, 6, fmt::format("{:06x}", system() & 0xffffffU));
    if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno != EEXIST) break;
  }
  name.clear();
  return false;
}

}  // namespace

std::string target_of(const std::string& path) {
  constexpr int most_links = 40;  // as the kernel
  if (path == "-") {              // what other programs take for standard output
    throw std::invalid_argument("-: cannot be written: it is not a regular file but an open descriptor; give a file");
  }
  fs::path target(path);
  std::error_code error;
  for (int i = 0; fs::is_symlink(fs::symlink_status(target, error)); ++i) {
    const fs::path next = fs::read_symlink(target, error);
    if (error || i == most_links) throw std::invalid_argument(fmt::format("{}: is a link that leads nowhere", path));
    target = next.is_absolute() ? next : target.parent_path() / next;
    if (target.lexically_normal().string().starts_with("/proc/")) {
      throw std::invalid_argument(
          fmt::format("{}: cannot be written: it is not a regular file but an open descriptor; give a file", path));
    }
  }
  const fs::file_status kind = fs::status(target, error);
  if (error == std::errc::filename_too_long) {
    throw std::invalid_argument(fmt::format("{}: cannot be written: {}; give a shorter name", path, error.message()));
  }
  if (fs::exists(kind) && !fs::is_regular_file(kind)) {
    throw std::invalid_argument(fmt::format("{}: cannot be written: it is not a regular file", path));
  }
  return target.string();
}

std::string first_bytes(int descriptor) {
  std::string text(4096, '\0');
  const ssize_t count = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

std::string first_bytes(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return {};
  std::string text = first_bytes(descriptor);
  ::close(descriptor);
  return text;
}

bool is_same_file(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

WholeFile::WholeFile(const std::string& path) : path_(path), target_(target_of(path)) {
  fs::path folder = fs::path(target_).parent_path();
  if (folder.empty()) folder = ".";
  descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kMode);
  if (descriptor_ >= 0) return;
  // Not every file system has files without names.
  std::string name = temporary_beside(target_);
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail();
  temporary_ = name;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, kMode & ~mask);
}

WholeFile::~WholeFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (descriptor_ >= 0) ::close(descriptor_);
}

void WholeFile::fail() const {
  throw std::runtime_error(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
}

void WholeFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void WholeFile::publish() {
  if (temporary_.empty() && !link_to_new_name(descriptor_, target_, temporary_)) fail();
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail();
  temporary_.clear();
}

int WholeFile::release() {
  return std::exchange(descriptor_, -1);
}

void write_whole(const std::string& path, const std::string& text) {
  WholeFile file(path);
  file.write(text);
  file.publish();
}
