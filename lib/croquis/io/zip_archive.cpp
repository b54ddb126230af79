#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <croquis/io/bytes.hpp>
#include <croquis/io/zip_archive.hpp>
#include <exception>
#include <mutex>
#include <utility>

namespace croquis {
namespace {

constexpr std::uint64_t kDeflateRatio = 1032;  // the largest compression ratio of deflate
constexpr std::uint64_t kMostListed = 20;
constexpr std::uint64_t kUnpackedAtOnce = 1 << 20;

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

std::string text_of(zip_error_t& error) {
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

// A ByteSource as libzip reads it.
struct Origin {
  SharedBytes bytes;
  std::uint64_t at = 0;
  zip_error_t error;
};

zip_int64_t answer(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
  auto* const origin = static_cast<Origin*>(state);
  const std::uint64_t size = origin->bytes->size();
  switch (command) {
    case ZIP_SOURCE_OPEN:
      origin->at = 0;
      return 0;
    case ZIP_SOURCE_READ: {
      const std::uint64_t count = std::min<std::uint64_t>(length, size - origin->at);
      try {
        origin->bytes->read(origin->at, count, static_cast<char*>(data));
      } catch (const std::exception&) {
        zip_error_set(&origin->error, ZIP_ER_READ, 0);
        return -1;
      }
      origin->at += count;
      return static_cast<zip_int64_t>(count);
    }
    case ZIP_SOURCE_CLOSE:
      return 0;
    case ZIP_SOURCE_STAT: {
      auto* const stat = static_cast<zip_stat_t*>(data);
      zip_stat_init(stat);
      stat->size = size;
      stat->valid |= ZIP_STAT_SIZE;
      return sizeof(zip_stat_t);
    }
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&origin->error, data, length);
    case ZIP_SOURCE_FREE:
      zip_error_fini(&origin->error);
      delete origin;
      return 0;
    case ZIP_SOURCE_SEEK: {
      const zip_int64_t place = zip_source_seek_compute_offset(origin->at, size, data, length, &origin->error);
      if (place < 0) return -1;
      origin->at = static_cast<std::uint64_t>(place);
      return 0;
    }
    case ZIP_SOURCE_TELL:
      return static_cast<zip_int64_t>(origin->at);
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT,
                                            ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL,
                                            ZIP_SOURCE_SUPPORTS, -1);
    default:
      zip_error_set(&origin->error, ZIP_ER_OPNOTSUPP, 0);
      return -1;
  }
}

}  // namespace

// libzip's archive is not thread-safe: whoever uses it holds the mutex.
class ZipArchive::Handle {
 public:
  Handle(SharedBytes source, const std::string& what, const std::string& advice) : bytes_(std::move(source)) {
    if (bytes_->size() == 0) {  // libzip: an archive without members
      refuse_file(bytes_->name(), fmt::format("is not {} (it is empty)", what));
    }
    zip_error_t error;
    zip_error_init(&error);
    auto* const origin = new Origin{bytes_, 0, {}};
    zip_error_init(&origin->error);
    zip_source_t* source_of = zip_source_function_create(answer, origin, &error);
    if (source_of == nullptr) {
      delete origin;
      refuse_file(bytes_->name(), text_of(error));
    }
    archive_.reset(zip_open_from_source(source_of, ZIP_RDONLY | ZIP_CHECKCONS, &error));
    if (!archive_) {
      zip_source_free(source_of);
      refuse_file(bytes_->name(), fmt::format("is not {} ({}); {}", what, text_of(error), advice));
    }
    zip_error_fini(&error);
  }

  const ByteSource& bytes() const { return *bytes_; }
  zip_t* archive() const { return archive_.get(); }
  std::mutex& mutex() { return mutex_; }

 private:
  SharedBytes bytes_;
  std::mutex mutex_;
  std::unique_ptr<zip_t, Discard> archive_;
};

class ZipArchive::Member final : public ByteSource {
 public:
  Member(std::shared_ptr<Handle> handle, zip_uint64_t index, std::string name)
      : handle_(std::move(handle)), index_(index), name_(std::move(name)) {
    const std::lock_guard lock(handle_->mutex());
    find_size();
    read_through();
  }
  ~Member() override {
    const std::lock_guard lock(handle_->mutex());
    file_.reset();
  }

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t first, std::uint64_t count, char* bytes) const override {
    const std::lock_guard lock(handle_->mutex());
    if (first > size_ || count > size_ - first) refuse_file(name_, "cannot be read to its end");
    if (!file_ || first < at_) open();
    std::string passed(std::min(first - at_, kUnpackedAtOnce), '\0');
    while (at_ < first) take(std::min(first - at_, kUnpackedAtOnce), passed.data());
    take(count, bytes);
  }

 private:
  // The description of the member in the archive, checked for plausibility.
  void find_size() {
    zip_stat_t stat;
    zip_stat_init(&stat);
    constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_CRC;
    if (zip_stat_index(handle_->archive(), index_, 0, &stat) != 0 || (stat.valid & needed) != needed) {
      refuse_file(name_, "has no size or no checksum");
    }
    // Decoders of other methods may need gigabytes, or produce any number of bytes from a few.
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) {
      refuse_file(name_, fmt::format("is compressed by method {}; write it with numpy.savez or numpy.savez_compressed",
                                     stat.comp_method));
    }
    if (stat.comp_size > handle_->bytes().size() || stat.size / kDeflateRatio > stat.comp_size) {
      refuse_file(name_, fmt::format("claims {} bytes, compressed into {}", stat.size, stat.comp_size));
    }
    size_ = stat.size;
  }

  void open() const {
    file_.reset(zip_fopen_index(handle_->archive(), index_, 0));
    if (!file_) refuse_file(name_, fmt::format("cannot be read: {}", zip_strerror(handle_->archive())));
    at_ = 0;
  }

  // The next `count` bytes.
  void take(std::uint64_t count, char* bytes) const {
    std::uint64_t done = 0;
    while (done < count) {
      const zip_int64_t now = zip_fread(file_.get(), bytes + done, count - done);
      if (now < 0) damaged(zip_file_strerror(file_.get()));
      if (now == 0) damaged(fmt::format("{} bytes where the archive states {}", at_, size_));
      done += static_cast<std::uint64_t>(now);
      at_ += static_cast<std::uint64_t>(now);
    }
  }

  // libzip compares the checksum and the size when it is asked to read beyond the end.
  void read_through() {
    open();
    std::string piece(std::min(size_, kUnpackedAtOnce), '\0');
    while (at_ < size_) take(std::min(size_ - at_, kUnpackedAtOnce), piece.data());
    char more = 0;
    const zip_int64_t after = zip_fread(file_.get(), &more, 1);
    if (after < 0) damaged(zip_file_strerror(file_.get()));
    if (after > 0) damaged(fmt::format("more than the {} bytes that the archive states", size_));
    file_.reset();
  }

  [[noreturn]] void damaged(const std::string& why) const { refuse_file(name_, fmt::format("is damaged: {}", why)); }

  std::shared_ptr<Handle> handle_;
  zip_uint64_t index_;
  std::string name_;
  std::uint64_t size_ = 0;
  mutable std::unique_ptr<zip_file_t, Discard> file_;  // open at at_
  mutable std::uint64_t at_ = 0;
};

ZipArchive::ZipArchive(SharedBytes source, const std::string& what, const std::string& advice)
    : handle_(std::make_shared<Handle>(std::move(source), what, advice)) {}

const std::string& ZipArchive::name() const {
  return handle_->bytes().name();
}

std::vector<std::string> ZipArchive::names() const {
  const std::lock_guard lock(handle_->mutex());
  std::vector<std::string> names;
  const auto count = static_cast<std::uint64_t>(zip_get_num_entries(handle_->archive(), 0));
  for (std::uint64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(handle_->archive(), i, 0);
    names.emplace_back(name == nullptr ? "?" : name);
  }
  return names;
}

bool ZipArchive::has(const std::string& member) const {
  const std::lock_guard lock(handle_->mutex());
  return zip_name_locate(handle_->archive(), member.c_str(), 0) >= 0;
}

std::string ZipArchive::listed() const {
  std::vector<std::string> all = names();
  const bool more = all.size() > kMostListed;
  if (more) all.resize(kMostListed);
  return fmt::format("{}{}", fmt::join(all, ", "), more ? ", ..." : "");
}

SharedBytes ZipArchive::member(const std::string& member) const {
  zip_int64_t index = 0;
  {
    const std::lock_guard lock(handle_->mutex());
    index = zip_name_locate(handle_->archive(), member.c_str(), 0);
  }
  if (index < 0) refuse_file(name(), fmt::format("has no member {}; it has {}", member, listed()));
  return std::make_shared<const Member>(handle_, static_cast<zip_uint64_t>(index),
                                        fmt::format("{}: {}", name(), member));
}

}  // namespace croquis
