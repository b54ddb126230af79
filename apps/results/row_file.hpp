// A CSV file that rows are appended to as they are made.
#pragma once

#include <string>
#include <vector>

#include <croquis/io/csv.hpp>

/// What to do with a result file that is there already.
enum class Existing { refuse, resume, overwrite };

/// The file is locked while it is open: a second run on it is refused. Every row is one write, so a run that is killed
/// leaves whole rows and at most one torn line at the end, which `resume` drops.
class RowFile {
 public:
  /// Throws std::invalid_argument when the file is there and Existing::refuse, when another run has it, when its header
  /// is another one; std::runtime_error when it cannot be written.
  RowFile(std::string path, const std::vector<std::string>& header, Existing existing);
  ~RowFile();
  RowFile(const RowFile&) = delete;
  RowFile& operator=(const RowFile&) = delete;

  /// The rows found by `resume`.
  const std::vector<std::vector<std::string>>& found() const { return found_; }
  /// `fields` as they are; csv_field and csv_number make them.
  void append(const std::vector<std::string>& fields);

 private:
  void write_line(const std::string& line);

  std::string path_;
  int descriptor_ = -1;
  std::vector<std::vector<std::string>> found_;
};

/// Writes the header and the rows in place of what the file at `path` has: all of it or, where that fails, nothing.
/// Throws std::runtime_error.
void replace_rows(const std::string& path, const std::vector<std::string>& header,
                  const std::vector<std::vector<std::string>>& rows);

/// `path` without its last extension ".csv", plus `suffix`: X.csv -> X.summary.csv.
std::string beside(const std::string& path, const std::string& suffix);
