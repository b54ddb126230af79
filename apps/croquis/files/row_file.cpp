#include "files/row_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <croquis/io/digest.hpp>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "files/whole_file.hpp"

namespace {

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw std::runtime_error(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

std::string line_of(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += ',';
    line += croquis::csv_field(fields[i]);
  }
  return line + '\n';
}

// Whether a file begins as results do, with names of columns: an input given by mistake as --out is not destroyed.
bool is_table(std::string_view text) {
  const std::string_view header = text.substr(0, text.find_first_of("\r\n"));
  return header.find(',') != std::string_view::npos &&
         header.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_,") == std::string_view::npos;
}

// As R's write.csv has the names of columns.
bool is_table_with_quotes(std::string text) {
  std::erase(text, '"');
  return is_table(text);
}

// What --overwrite may replace: rows, and not what stands beside those of a run.
void require_rows(std::string_view text, const std::string& path) {
  if (text.empty()) return;
  const bool is_beside = is_companion_of_rows(path);
  if (is_table(text) && !is_beside) return;
  throw std::invalid_argument(
      fmt::format("{}: is {}; remove it, or give another --out", path,
                  is_beside ? "a table beside the rows of a run" : "not a table that --overwrite could replace"));
}

}  // namespace

// False when the file was replaced before the lock was had.
bool RowFile::open_and_lock() {
  // Opening a pipe must not wait for its other end, and what target_of found must still be there.
  constexpr int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  descriptor_ = ::open(target_.c_str(), flags);
  created_ = descriptor_ < 0 && errno == ENOENT;
  if (created_) descriptor_ = ::open(target_.c_str(), flags | O_CREAT, 0644);
  if (descriptor_ < 0) {
    throw std::invalid_argument(fmt::format("{}: cannot be written: {}", path_, std::strerror(errno)));
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    throw std::invalid_argument(fmt::format("{}: another run is writing it; wait for it or give another --out", path_));
  }
  struct stat opened {
  }, named{};
  if (::fstat(descriptor_, &opened) != 0) fail(path_, "cannot be read");
  if (!S_ISREG(opened.st_mode)) {
    throw std::invalid_argument(fmt::format("{}: cannot be written: it is not a regular file", path_));
  }
  if (::stat(target_.c_str(), &named) == 0 && is_same_file(opened, named)) return true;
  ::close(descriptor_);
  descriptor_ = -1;
  return false;
}

RowFile::RowFile(std::string path, const std::vector<std::string>& header, Existing existing)
    : path_(std::move(path)), target_(target_of(path_)), header_(header) {
  try {
    while (!open_and_lock()) {
    }
    const off_t size = ::lseek(descriptor_, 0, SEEK_END);
    if (existing != Existing::resume) require_rows(first_bytes(descriptor_), path_);
    if (size > 0 && existing == Existing::refuse) refuse_existing(path_);
    if (size > 0 && existing == Existing::resume) read_whole_lines();
  } catch (...) {
    if (descriptor_ >= 0) ::close(descriptor_);
    throw;
  }
}

RowFile::~RowFile() {
  if (created_ && !begun_ && is_in_place()) ::unlink(target_.c_str());
  ::close(descriptor_);
}

// All but a line that a killed run has left without its end.
void RowFile::read_whole_lines() {
  const std::string text = bytes();
  kept_ = text.rfind('\n') + 1;  // 0 without a line break
  if (kept_ == 0 && !line_of(header_).starts_with(text)) {
    throw std::invalid_argument(
        fmt::format("{}: is not a table that --resume could go on with; give another --out", path_));
  }
  if (kept_ == 0) return;
  croquis::CsvTable table = croquis::parse_csv(text.substr(0, kept_), path_);
  if (table.header != header_) {
    throw std::invalid_argument(
        fmt::format("{}: has other columns; it is of another command, or of other options that add columns", path_));
  }
  found_ = std::move(table.rows);
}

void RowFile::begin() {
  if (::ftruncate(descriptor_, static_cast<off_t>(kept_)) != 0) fail(path_, "cannot be truncated to whole lines");
  if (kept_ == 0) append(header_);
  begun_ = true;
}

void RowFile::append(const std::vector<std::string>& fields) {
  require_in_place();
  const std::string line = line_of(fields);
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

std::string RowFile::bytes() const {
  std::string text(static_cast<std::size_t>(::lseek(descriptor_, 0, SEEK_END)), '\0');
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::pread(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail(path_, "cannot be read");
    done += static_cast<std::size_t>(count);
  }
  return text;
}

croquis::CsvTable RowFile::read() const {
  return croquis::parse_csv(bytes(), path_);
}

std::string RowFile::digest() const {
  return croquis::digest_of(bytes());
}

void RowFile::replace(const croquis::CsvTable& table) {
  WholeFile file(path_);
  file.write(csv_text(table));
  if (::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) fail(path_, "cannot be locked");
  require_in_place();
  file.publish();
  ::close(descriptor_);
  descriptor_ = file.release();
}

bool RowFile::is_in_place() const {
  struct stat opened {
  }, named{};
  return ::fstat(descriptor_, &opened) == 0 && ::stat(target_.c_str(), &named) == 0 && is_same_file(opened, named);
}

void RowFile::require_in_place() const {
  if (is_in_place()) return;
  if (const std::string now = moved_to(); !now.empty()) {
    throw std::runtime_error(fmt::format(
        "{}: was moved while this run was writing it; the rows that this run has made are in {}", path_, now));
  }
  throw std::runtime_error(fmt::format(
      "{}: was removed or replaced while this run was writing it; the rows that this run has made are in {}", path_,
      rescued()));
}

// The name that the open file has now; empty where it has none, or none that is known: of several links one may be
// gone.
std::string RowFile::moved_to() const {
  std::error_code error;
  const std::string name = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor_), error).string();
  struct stat opened {
  }, named{};
  const bool is_known = !error && ::fstat(descriptor_, &opened) == 0 && ::stat(name.c_str(), &named) == 0;
  return is_known && is_same_file(opened, named) ? name : "";
}

// The name of a new file with the rows.
std::string RowFile::rescued() const {
  constexpr int most = 1000;
  if (!rescued_.empty()) return rescued_;
  for (int i = 1; i <= most; ++i) {
    const std::string name = beside(path_, fmt::format(".rescued-{}.csv", i));
    const int taken = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (taken < 0 && errno == EEXIST) continue;
    if (taken < 0) break;
    ::close(taken);
    write_whole(name, bytes());
    return rescued_ = name;
  }
  return "no file: none could be made beside it";
}

void SeenRows::add(std::vector<std::string> key, std::size_t line) {
  const auto [first, added] = lines_.emplace(std::move(key), line);
  if (added) return;
  throw std::invalid_argument(fmt::format("{}: line {} is a second result of what line {} has; remove one of them",
                                          path_, line, first->second));
}

void require_replaceable(const std::string& path) {
  require_rows(first_bytes(target_of(path)), path);
}

void require_result(const std::string& path) {
  const std::string text = first_bytes(path);
  if (text.empty() || is_table_with_quotes(text)) return;
  if (text.starts_with("\xEF\xBB\xBF")) {
    throw std::invalid_argument(fmt::format(
        "{}: begins with a byte order mark, as Excel's 'CSV UTF-8' does; save it as CSV without one", path));
  }
  throw std::invalid_argument(fmt::format(
      "{}: is not a result of croquis, which begins with the names of columns and commas between them; give a CSV such "
      "as error.csv",
      path));
}

std::string csv_text(const croquis::CsvTable& table) {
  return line_of(table.header) + csv_lines(table.rows);
}

std::string csv_lines(const std::vector<std::vector<std::string>>& rows) {
  std::string lines;
  for (const auto& row : rows) lines += line_of(row);
  return lines;
}

std::vector<std::vector<std::string>> rows_of_lines(std::string_view lines) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t start = 0, end = 0; (end = lines.find('\n', start)) != std::string_view::npos; start = end + 1) {
    rows.push_back(croquis::split_csv_line(lines.substr(start, end - start)));
  }
  return rows;
}
