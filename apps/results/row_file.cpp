#include "results/row_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "results/whole_file.hpp"

namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw std::runtime_error(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

// Length of the file up to its last line break.
off_t whole_lines(int descriptor, const std::string& path) {
  off_t end = ::lseek(descriptor, 0, SEEK_END);
  char last = 0;
  while (end > 0) {
    if (::pread(descriptor, &last, 1, end - 1) != 1) fail(path, "cannot be read");
    if (last == '\n') break;
    --end;
  }
  return end;
}

}  // namespace

RowFile::RowFile(std::string path, const std::vector<std::string>& header, Existing existing) : path_(std::move(path)) {
  // Opening a pipe waits for its other end; a device has no rows to go on with.
  std::error_code error;
  const std::filesystem::file_status kind = std::filesystem::status(path_, error);
  if (std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind)) {
    throw std::invalid_argument(fmt::format("{}: cannot be written: it is not a regular file", path_));
  }
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    throw std::invalid_argument(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  }
  try {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      throw std::invalid_argument(
          fmt::format("{}: another run is writing it; wait for it or give another --out", path_));
    }
    const off_t size = ::lseek(descriptor_, 0, SEEK_END);
    if (size > 0 && existing == Existing::refuse) {
      throw std::invalid_argument(
          fmt::format("{}: is there already; --resume goes on with it, --overwrite starts again", path_));
    }
    const off_t keep = existing == Existing::resume ? whole_lines(descriptor_, path_) : 0;
    if (keep > 0) {
      croquis::CsvTable table = croquis::read_csv(path_);
      if (table.header != header) {
        throw std::invalid_argument(fmt::format("{}: has other columns, it is not a result of this command", path_));
      }
      found_ = std::move(table.rows);
    }
    if (keep != size && ::ftruncate(descriptor_, keep) != 0) fail(path_, "cannot be cut to whole lines");
    if (keep == 0) append(header);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

RowFile::~RowFile() {
  ::close(descriptor_);
}

void RowFile::append(const std::vector<std::string>& fields) {
  write_line(fmt::format("{}\n", fmt::join(fields, ",")));
}

void RowFile::write_line(const std::string& line) {
  const off_t before = ::lseek(descriptor_, 0, SEEK_END);
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t count = ::write(descriptor_, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int reason = errno;
      // Take the torn line back; if that fails too, --resume drops it.
      [[maybe_unused]] const int cut = ::ftruncate(descriptor_, before);
      errno = reason;
      fail(path_, "a row cannot be written; the rows before it are safe, --resume goes on");
    }
    done += static_cast<std::size_t>(count);
  }
}

void replace_rows(const std::string& path, const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows) {
  std::string text = fmt::format("{}\n", fmt::join(header, ","));
  for (const auto& row : rows) text += fmt::format("{}\n", fmt::join(row, ","));
  write_whole(path, text);
}

std::string beside(const std::string& path, const std::string& suffix) {
  const std::filesystem::path given(path);
  const std::filesystem::path stem =
      given.extension() == ".csv" ? std::filesystem::path(given).replace_extension() : given;
  return stem.string() + suffix;
}
