// A run of an experiment: rows computed in parallel, written in order, resumed after an interruption.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "results/progress.hpp"
#include "results/row_file.hpp"

/// Options that the experiments have in common.
struct RunOptions {
  std::uint64_t seed = 1;
  int threads = 0;  ///< 0: all processors
  std::string precision = "double";
  std::string out, plot;
  bool quiet = false, resume = false, overwrite = false;
  std::string command_line, configuration;  ///< for the meta file
};

/// Sets the library's threads and makes BLAS single-threaded; checks that the plot can be drawn. To be called first.
/// Throws std::invalid_argument.
void prepare_run(const RunOptions& options);

class Run {
 public:
  using Fields = std::vector<std::string>;

  /// Opens `options.out`, checks a resumed file and writes the meta file. `key_columns` tell one row from another;
  /// `identity` is what all rows depend on, beside seed and precision. Catches SIGINT and SIGTERM from here on.
  Run(const RunOptions& options, const std::string& command, Fields columns, const Fields& key_columns,
      std::map<std::string, std::string> identity);

  /// Whether a resumed file has the row whose key columns are `key`, each as csv_field gives it.
  bool has(const Fields& key) const { return found_.contains(key); }

  /// Number of rows, or of steps that append several, to come; for the progress.
  void expect(std::size_t rows);

  /// row(0), ..., row(count - 1) on the library's threads, appended in this order as they come. Does nothing more once
  /// a signal has come. `what` is shown in the progress.
  void compute(std::size_t count, const std::string& what, const std::function<Fields(std::size_t)>& row);

  /// The same for steps of several rows each; expect() counts steps then.
  void compute_steps(std::size_t count, const std::string& what,
                     const std::function<std::vector<Fields>(std::size_t)>& rows);

  /// Shows in the progress what is under way.
  void show(const std::string& what);

  /// Appends rows that one step of the progress has made together.
  void append(const std::vector<Fields>& rows, const std::string& what);

  /// Whether a signal has come.
  static bool interrupted();

  /// 0, or 128 + the signal that came, after a line on standard error that says how to go on.
  int status() const;

 private:
  RunOptions options_;
  std::string command_;
  RowFile file_;
  std::set<Fields> found_;
  std::unique_ptr<Progress> progress_;
  std::size_t finished_ = 0;
};
