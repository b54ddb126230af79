#include "results/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <croquis/core/threads.hpp>
#include <csignal>
#include <mutex>
#include <stdexcept>

#include "gnuplot.hpp"
#include "results/environment.hpp"
#include "results/metadata.hpp"

namespace {

std::atomic<int> caught_signal{0};
void remember_signal(int signal) {
  caught_signal = signal;
}

Existing existing(const RunOptions& options) {
  if (options.resume && options.overwrite) throw std::invalid_argument("--resume and --overwrite exclude each other");
  if (options.resume) return Existing::resume;
  return options.overwrite ? Existing::overwrite : Existing::refuse;
}

// Hands rows to the file in their order, whichever is ready first.
class OrderedRows {
 public:
  explicit OrderedRows(RowFile& file) : file_(file) {}

  void put(std::size_t index, std::vector<Run::Fields> rows) {
    waiting_.emplace(index, std::move(rows));
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_; first = waiting_.begin()) {
      for (const Run::Fields& row : first->second) file_.append(row);
      waiting_.erase(first);
      ++next_;
    }
  }

 private:
  RowFile& file_;
  std::map<std::size_t, std::vector<Run::Fields>> waiting_;
  std::size_t next_ = 0;
};

}  // namespace

void prepare_run(const RunOptions& options) {
  if (!options.plot.empty()) check_plot_name(options.plot);
  croquis::set_threads(options.threads);
  prepare_threads(croquis::threads());
}

Run::Run(const RunOptions& options, const std::string& command, Fields columns, const Fields& key_columns,
         std::map<std::string, std::string> identity)
    : options_(options), command_(command), file_(options.out, columns, existing(options)) {
  identity["command"] = command;
  identity["--seed"] = std::to_string(options.seed);
  identity["--precision"] = options.precision;
  const RunDescription description{options.command_line, options.configuration, std::move(identity), options.seed,
                                   croquis::threads()};
  const std::string meta = beside(options.out, ".meta.json");
  if (!file_.found().empty()) require_same_identity(meta, description);
  write_metadata(meta, description);

  const croquis::CsvTable header{columns, {}};
  for (const Fields& row : file_.found()) {
    Fields key;
    for (const std::string& column : key_columns) key.push_back(croquis::csv_field(row[header.column(column)]));
    found_.insert(std::move(key));
  }
  std::signal(SIGINT, remember_signal);
  std::signal(SIGTERM, remember_signal);
}

void Run::expect(std::size_t rows) {
  progress_ = std::make_unique<Progress>(rows, options_.quiet);
}

void Run::compute(std::size_t count, const std::string& what, const std::function<Fields(std::size_t)>& row) {
  compute_steps(count, what, [&](std::size_t i) { return std::vector<Fields>{row(i)}; });
}

void Run::compute_steps(std::size_t count, const std::string& what,
                        const std::function<std::vector<Fields>(std::size_t)>& rows) {
  show(what);
  OrderedRows ordered(file_);
  std::mutex mutex;
  croquis::parallel_for(count, [&](std::size_t i) {
    if (interrupted()) return;
    std::vector<Fields> made = rows(i);
    const std::lock_guard lock(mutex);
    ordered.put(i, std::move(made));
    ++finished_;
    show(what);
  });
}

void Run::show(const std::string& what) {
  if (progress_) progress_->show(finished_, what);
}

void Run::append(const std::vector<Fields>& rows, const std::string& what) {
  for (const Fields& row : rows) file_.append(row);
  ++finished_;
  show(what);
}

bool Run::interrupted() {
  return caught_signal != 0;
}

int Run::status() const {
  if (!interrupted()) return 0;
  say(fmt::format("croquis {}: stopped; finished rows are in {}, the same command with --resume goes on\n", command_,
                  options_.out));
  return 128 + caught_signal;
}
