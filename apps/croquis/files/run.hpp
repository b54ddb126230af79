// A run of an experiment: cells computed in parallel, on one or several ranks, resumed after an interruption.
#pragma once

#include <atomic>
#include <croquis/measure/columns.hpp>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "files/companions.hpp"
#include "files/metadata.hpp"
#include "files/progress.hpp"
#include "files/row_file.hpp"
#include "files/run_options.hpp"
#include "files/shard.hpp"
#include "files/work_queue.hpp"

/// A cell is what is computed in one go: one row or several, which are written together. The file has the rows as they
/// come, and in the order of the cells once all are there. What tells rows apart are the key columns (Role).
///
/// With several ranks all of them make the same Run and go through the same cells; a cell is computed on one of them.
/// Rank 0 has the files.
class Run {
 public:
  /// Values as text, unquoted.
  using Fields = std::vector<std::string>;
  /// Keys of rows of a cell (those of the cell, then of the row in it) that show, in a resumed file, that it is
  /// finished.
  using Cell = std::vector<Fields>;

  /// Opens `options.out` and checks a resumed file: the run's identity (also where only a companion has what it goes
  /// on with), seed and precision, no row twice. What is there stays as it is until plan(). `identity` is what all rows
  /// depend on, beside seed and precision. Catches SIGINT and SIGTERM from here on. `companions` are the tables that
  /// the command will write beside the rows: a file of somebody else under such a name is refused.
  Run(const RunOptions& options, const std::string& command, std::vector<croquis::Column> columns,
      std::map<std::string, std::string> identity, const std::vector<Companion>& companions = {});

  /// A key as the text that stands in the file.
  static Fields key(std::initializer_list<croquis::Value> values);

  /// Whether a resumed file has the row with this key.
  bool has(const Fields& key) const { return found_.contains(key); }

  /// All cells of the whole run, in the order of its rows. To be called once, before anything is computed. Throws
  /// std::invalid_argument for a cell that is there twice, when a resumed file has rows of other cells, and when the
  /// ranks have not the same identity, columns and cells. After these checks it begins the file, writes the meta file
  /// and, with --overwrite, removes what an earlier result had beside its rows; `clear` removes what it had elsewhere,
  /// on rank 0 before any cell is dealt.
  void plan(const std::vector<Cell>& cells, const std::function<void()>& clear = {});

  /// Whether the cell with this key is of this shard and not finished.
  bool wants(const Fields& cell) const { return wanted_.contains(cell); }

  /// Passes over the next `count` wanted cells where other ranks have them all: no need to prepare for them then.
  bool skip(std::size_t count);

  /// row(0), ..., row(count - 1) on the library's threads, for cells of one row: the next `count` of those wanted, in
  /// the order of the plan. Does nothing more once a signal has come. `what` is shown in the progress.
  void compute(std::size_t count, const std::string& what, const std::function<croquis::Record(std::size_t)>& row);

  /// The same for cells of several rows; one without rows is not finished. A cell alone (count = 1) has all threads.
  void compute_steps(std::size_t count, const std::string& what,
                     const std::function<std::vector<croquis::Record>(std::size_t)>& rows);

  /// body(0), ..., body(count - 1), each of which goes through cells of its own, one after the other. Side by side they
  /// are on the library's threads, and compute() inside computes on the thread that calls it; but not on several ranks,
  /// which deal the cells. Where one of them fails the others stop after the cell that they are at.
  void for_each(std::size_t count, bool side_by_side, const std::function<void(std::size_t)>& body);

  /// For a cell of one row that all ranks compute together, in place of compute().
  void compute_together(const std::string& what, const std::function<croquis::Record()>& row);

  /// Whether a signal has come.
  static bool interrupted();

  /// Whether nothing further should be begun: a signal has come, or something beside the caller has failed.
  bool stopped() const { return interrupted() || failed_; }

  /// To be called when all is computed: waits for the other ranks, checks that the file is still this run's and has all
  /// rows, puts them in order and completes the meta file.
  /// Returns the exit status where the command ends here: 128 + the signal that came, after a line on standard error
  /// that says how to go on; 0 for a shard and on ranks other than 0, which have no summary to make. `kept` is the file
  /// that this line names, where what was computed is in another one than the run's own.
  std::optional<int> finish(const std::string& kept = "");

  const RunOptions& options() const { return options_; }
  const std::string& command() const { return command_; }

  /// The rows that were found and made, in the order of the cells once finish() is done. On rank 0.
  const croquis::Table& table() const { return table_; }

 private:
  void find_rows(const std::vector<Companion>& companions);
  void begin_files();
  void deliver(const WorkQueue::Rows& rows);
  void require_planned(const std::vector<Fields>& rows) const;
  std::vector<std::size_t> order_of(const croquis::CsvTable& file) const;
  void complete();
  void show(const std::string& what);
  void stopping_others(const std::function<void()>& body);

  RunOptions options_;
  std::string command_;
  croquis::Table table_;
  std::vector<std::size_t> cell_, row_;  // places of the columns that are keys of cells, and of rows
  Shard shard_;
  RunDescription description_;
  std::optional<RowFile> file_;  // on rank 0
  std::set<Fields> found_;
  std::vector<std::string> remarks_;      // on the rows that were there; empty ones say nothing
  std::map<Fields, std::size_t> places_;  // of the cells in the plan
  std::set<Fields> wanted_;
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<WorkQueue> queue_;
  std::size_t begun_ = 0;  // of the wanted cells
  bool divided_ = false;   // for_each() divides them over the threads
  std::atomic<bool> failed_ = false;
  std::mutex showing_;  // for the two below and the progress
  std::size_t finished_ = 0;
  std::string shown_;
};
