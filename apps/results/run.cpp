#include "results/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <croquis/core/threads.hpp>
#include <croquis/distributed/communicator.hpp>
#include <csignal>
#include <stdexcept>

#include "gnuplot.hpp"
#include "results/environment.hpp"
#include "results/progress.hpp"

namespace {

using croquis::Communicator;

std::atomic<int> caught_signal{0};
void remember_signal(int signal) {
  caught_signal = signal;
}

Existing existing(const RunOptions& options) {
  if (options.resume && options.overwrite) throw std::invalid_argument("--resume and --overwrite exclude each other");
  if (options.resume) return Existing::resume;
  return options.overwrite ? Existing::overwrite : Existing::refuse;
}

// The keys of rows for the ranks that have no file: lines as in one.
std::string text_of(const std::set<Run::Fields>& keys) {
  std::string text;
  for (const Run::Fields& key : keys) text += fmt::format("{}\n", fmt::join(key, ","));
  return text;
}

std::set<Run::Fields> keys_in(const std::string& text) {
  std::set<Run::Fields> keys;
  for (std::size_t start = 0, end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    Run::Fields key = croquis::split_csv_line(std::string_view(text).substr(start, end - start));
    for (std::string& field : key) field = croquis::csv_field(field);
    keys.insert(std::move(key));
  }
  return keys;
}

std::vector<std::size_t> places_of(const Run::Fields& names, const Run::Fields& columns) {
  const croquis::CsvTable header{columns, {}};
  std::vector<std::size_t> places;
  for (const std::string& name : names) places.push_back(header.column(name));
  return places;
}

Run::Fields key_of(const Run::Fields& row, const std::vector<std::size_t>& places) {
  Run::Fields key;
  for (const std::size_t place : places) key.push_back(croquis::csv_field(row[place]));
  return key;
}

}  // namespace

void prepare_run(const RunOptions& options) {
  const bool part = parse_shard(options.shard).count > 1;
  if (part && !options.plot.empty()) {
    throw std::invalid_argument("--plot: a shard has a part of the rows; merge the parts, then plot");
  }
  if (!options.plot.empty()) check_plot_name(options.plot);
  croquis::set_threads(options.threads);
  prepare_threads(croquis::threads());
}

Run::Run(const RunOptions& options, const std::string& command, Fields columns, Keys keys,
         std::map<std::string, std::string> identity)
    : options_(options),
      command_(command),
      columns_(std::move(columns)),
      keys_(std::move(keys)),
      shard_(parse_shard(options.shard)) {
  identity["command"] = command;
  identity["--seed"] = std::to_string(options.seed);
  identity["--precision"] = options.precision;
  if (shard_.count > 1) identity["--shard"] = options.shard;
  description_ = {options.command_line, options.configuration, std::move(identity), options.seed, croquis::threads()};
  std::string found;
  if (Communicator::world().rank() == 0) {
    file_.emplace(options.out, columns_, existing(options));
    const std::string meta = beside(options.out, ".meta.json");
    if (!file_->found().empty()) require_same_identity(meta, description_);
    write_metadata(meta, description_);
    Fields names = keys_.cell;
    names.insert(names.end(), keys_.row.begin(), keys_.row.end());
    const std::vector<std::size_t> places = places_of(names, columns_);
    for (const Fields& row : file_->found()) found_.insert(key_of(row, places));
    found = text_of(found_);
  }
  Communicator::world().broadcast(found);
  if (Communicator::world().rank() != 0) found_ = keys_in(found);
  std::signal(SIGINT, remember_signal);
  std::signal(SIGTERM, remember_signal);
}

void Run::plan(const std::vector<Cell>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Fields& first = cells[i].front();
    Fields cell(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(keys_.cell.size()));
    const bool done = std::all_of(cells[i].begin(), cells[i].end(), [&](const Fields& key) { return has(key); });
    if (shard_.has(i) && !done) wanted_.insert(cell);
    places_.emplace(std::move(cell), i);
  }
  progress_ = std::make_unique<Progress>(wanted_.size(), options_.quiet || !file_);
  dealer_ = std::make_unique<Dealer>(wanted_.size(), [this](const Dealer::Rows& rows) {
    for (const Fields& row : rows) file_->append(row);
    const std::lock_guard lock(showing_);
    progress_->show(++finished_, shown_);
  });
}

bool Run::skip(std::size_t count) {
  if (dealer_->has(begun_ + count)) return false;
  begun_ += count;
  return true;
}

void Run::compute(std::size_t count, const std::string& what, const std::function<Fields(std::size_t)>& row) {
  compute_steps(count, what, [&](std::size_t i) { return std::vector<Fields>{row(i)}; });
}

void Run::compute_steps(std::size_t count, const std::string& what,
                        const std::function<std::vector<Fields>(std::size_t)>& rows) {
  const std::size_t first = begun_;
  begun_ += count;
  show(what);
  std::atomic<bool> failed{false};
  croquis::parallel_for(std::min(count, static_cast<std::size_t>(croquis::threads())), [&](std::size_t) {
    try {
      while (!failed && !interrupted()) {
        const auto cell = dealer_->take(begun_);
        if (!cell) return;
        const std::vector<Fields> made = rows(*cell - first);
        if (!made.empty()) dealer_->put(made);
      }
    } catch (...) {
      failed = true;
      throw;
    }
  });
}

void Run::compute_together(const std::string& what, const std::function<Fields()>& row) {
  show(what);
  const Fields made = row();
  if (file_) dealer_->put({made});
}

void Run::show(const std::string& what) {
  const std::lock_guard lock(showing_);
  shown_ = what;
  progress_->show(finished_, shown_);
}

bool Run::interrupted() {
  return caught_signal != 0;
}

void Run::sort_rows() {
  const croquis::CsvTable table = croquis::read_csv(options_.out);
  const std::vector<std::size_t> columns = places_of(keys_.cell, table.header);
  std::vector<std::pair<std::size_t, std::size_t>> order;  // place of the cell, place in the file
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const auto found = places_.find(key_of(table.rows[i], columns));
    // Rows that the plan does not have, of a run with other lists, go last.
    order.emplace_back(found == places_.end() ? places_.size() : found->second, i);
  }
  if (!std::is_sorted(order.begin(), order.end())) {
    std::sort(order.begin(), order.end());
    std::vector<Fields> sorted;
    for (const auto& [cell, i] : order) {
      sorted.push_back(table.rows[i]);
      for (std::string& field : sorted.back()) field = croquis::csv_field(field);
    }
    replace_rows(options_.out, table.header, sorted);
  }
  description_.finished = Finished{table.rows.size(), places_.size(), keys_.cell, shard_};
  write_metadata(beside(options_.out, ".meta.json"), description_);
}

std::optional<int> Run::finish() {
  dealer_->finish();
  progress_.reset();
  if (!file_) return interrupted() ? 128 + caught_signal : 0;
  if (interrupted() || finished_ < wanted_.size()) {
    say(fmt::format("croquis {}: stopped; finished rows are in {}, the same command with --resume goes on\n", command_,
                    options_.out));
    return 128 + (interrupted() ? caught_signal.load() : SIGTERM);  // that came to another rank
  }
  sort_rows();
  if (shard_.count == 1) return {};
  if (!options_.quiet) {
    fmt::print("rows     {}: shard {} of {} cells; croquis merge puts the parts together\n", options_.out,
               options_.shard, places_.size());
  }
  return 0;
}
