#include <algorithm>
#include <croquis/core/memory.hpp>
#include <croquis/io/byte_source.hpp>
#include <croquis/io/bytes.hpp>
#include <cstring>
#include <utility>

namespace croquis {
namespace {

class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const std::string& path) : file_(path) { file_.require_end(); }
  const std::string& name() const override { return file_.path(); }
  std::uint64_t size() const override { return file_.size(); }
  void read(std::uint64_t first, std::uint64_t count, char* bytes) const override { file_.read(first, count, bytes); }

 private:
  InputFile file_;
};

class MemoryBytes final : public ByteSource {
 public:
  MemoryBytes(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}
  MemoryBytes(std::string&& bytes, std::string name) : own_(std::move(bytes)), bytes_(own_), name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t first, std::uint64_t count, char* bytes) const override {
    if (first > bytes_.size() || count > bytes_.size() - first) refuse_file(name_, "cannot be read to its end");
    if (count > 0) std::memcpy(bytes, bytes_.data() + first, count);
  }

 private:
  std::string own_;
  std::string_view bytes_;
  std::string name_;
};

}  // namespace

SharedBytes bytes_of_file(const std::string& path) {
  return std::make_shared<const FileBytes>(path);
}

SharedBytes bytes_in_memory(std::string_view bytes, const std::string& name) {
  return std::make_shared<const MemoryBytes>(bytes, name);
}

SharedBytes bytes_in_memory(std::string&& bytes, const std::string& name) {
  return std::make_shared<const MemoryBytes>(std::move(bytes), name);
}

std::string read_some(const ByteSource& source, std::uint64_t first, std::uint64_t count) {
  count = first < source.size() ? std::min(count, source.size() - first) : 0;
  require_memory(static_cast<double>(count), source.name(), {});
  std::string bytes(count, '\0');
  source.read(first, count, bytes.data());
  return bytes;
}

}  // namespace croquis
