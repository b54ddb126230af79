#include "results/whole_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace {

[[noreturn]] void fail(const std::string& path) {
  const int reason = errno;
  std::error_code ignored;
  std::filesystem::remove(part_of(path), ignored);
  throw std::runtime_error(fmt::format("{}: cannot be written: {}", path, std::strerror(reason)));
}

}  // namespace

std::string part_of(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / (".part-" + whole.filename().string())).string();
}

void publish(const std::string& path) {
  if (std::rename(part_of(path).c_str(), path.c_str()) != 0) fail(path);
}

void write_whole(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(part_of(path), std::ios::binary);
  file << text;
  file.close();
  if (!file) fail(path);
  publish(path);
}
