// A CSV file that rows are appended to as they are made.
#pragma once

#include <croquis/io/csv.hpp>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/companions.hpp"

/// The file is locked while this object lives, so a second run on it is refused, and its rows are read and replaced
/// through the descriptor that was opened first: where somebody removes or replaces the file, neither run takes the
/// other's for its own. Every row is one write, so a run that is killed leaves whole rows and at most one torn line at
/// the end, which `resume` drops. A symbolic link is written through.
class RowFile {
 public:
  /// Throws std::invalid_argument when the file is there and Existing::refuse, when another run has it, when its header
  /// is another one, when it is no regular file; std::runtime_error when it cannot be written. What is there stays as
  /// it is until begin().
  RowFile(std::string path, const std::vector<std::string>& header, Existing existing);
  ~RowFile();
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  /// Takes away what `overwrite` replaces, or the torn line that `resume` drops, and writes the header where there is
  /// none. To be called once, before a row is appended; a file that was made for a run which never came to this is
  /// removed.
  void begin();
  /// The rows found by `resume`.
  const std::vector<std::vector<std::string>>& found() const { return found_; }
  /// A row; its fields are quoted here. Throws std::runtime_error when the row cannot be
  /// written, and as require_in_place.
  void append(const std::vector<std::string>& fields);

  /// All rows, as they stand in the file now.
  croquis::CsvTable read() const;
  /// The header and these rows, whose fields are quoted here, in place of what the file has: all of it or, where that
  /// fails, nothing. The new file is locked before it takes its place. Throws std::runtime_error.
  void replace(const croquis::CsvTable& table);
  /// Throws std::runtime_error when the file no longer stands under its name, since it was moved, removed or
  /// replaced. The message names the file with its rows: where it was moved to, or a new one beside it.
  void require_in_place() const;
  /// digest_of its bytes.
  std::string digest() const;

 private:
  bool open_and_lock();
  bool is_in_place() const;
  std::string moved_to() const;
  void read_whole_lines();
  std::string bytes() const;
  std::string rescued() const;

  std::string path_, target_;
  std::vector<std::string> header_;
  mutable std::string rescued_;  // the file that the rows were copied to; once, whoever notices first
  int descriptor_ = -1;
  bool created_ = false, begun_ = false;
  std::size_t kept_ = 0;  // the bytes that begin() leaves
  std::vector<std::vector<std::string>> found_;
};

/// The rows of a file, by what tells them apart. A run writes no row twice; files that were put together may have one,
/// which would count as a draw of its own.
class SeenRows {
 public:
  explicit SeenRows(std::string path) : path_(std::move(path)) {}
  /// Throws std::invalid_argument, which names both lines, for a row that was added before.
  void add(std::vector<std::string> key, std::size_t line);

 private:
  std::string path_;
  std::map<std::vector<std::string>, std::size_t> lines_;
};

/// Throws std::invalid_argument when `path` is a file that is not empty and does not begin as results do, with names of
/// columns, or stands beside the rows of a run: --overwrite destroys nothing that was given by mistake.
void require_replaceable(const std::string& path);

/// Throws std::invalid_argument for a file that is not empty and does not begin so: an array, or a page.
void require_result(const std::string& path);

/// A table as the text of a CSV file.
std::string csv_text(const croquis::CsvTable& table);

/// Rows as lines of CSV, for other ranks, and what was written so.
std::string csv_lines(const std::vector<std::vector<std::string>>& rows);
std::vector<std::vector<std::string>> rows_of_lines(std::string_view lines);
