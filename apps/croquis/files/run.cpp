#include "files/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <croquis/core/threads.hpp>
#include <croquis/distributed/communicator.hpp>
#include <croquis/io/digest.hpp>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "files/progress.hpp"

namespace {

using croquis::Communicator;

std::atomic<int> caught_signal{0};
void remember_signal(int signal) {
  caught_signal = signal;
}

Run::Fields chosen(const Run::Fields& row, const std::vector<std::size_t>& places) {
  Run::Fields key;
  for (const std::size_t place : places) key.push_back(row[place]);
  return key;
}

Run::Fields names_of(const std::vector<croquis::Column>& columns) {
  Run::Fields names;
  for (const croquis::Column& column : columns) names.push_back(column.name);
  return names;
}

WorkQueue::Rows fields_of(const std::vector<croquis::Record>& records) {
  WorkQueue::Rows rows;
  for (const croquis::Record& record : records) {
    rows.emplace_back();
    for (const croquis::Value& value : record) rows.back().push_back(croquis::text_of(value));
  }
  return rows;
}

// Throws for a row that was there before and is none of this run's: another seed or precision, a row twice.
void check_found(const std::string& path, const croquis::CsvTable& table, const std::vector<std::size_t>& keys,
                 const RunOptions& options) {
  const std::pair<const char*, std::string> fixed[] = {{"seed", std::to_string(options.seed)},
                                                       {"precision", options.precision}};
  SeenRows seen(path);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::size_t line = i + 2;  // the header is the first
    for (const auto& [name, value] : fixed) {
      const auto column = std::find(table.header.begin(), table.header.end(), name);
      if (column == table.header.end()) continue;
      const std::string& found = table.rows[i][static_cast<std::size_t>(column - table.header.begin())];
      if (found == value) continue;
      throw std::invalid_argument(fmt::format("{}: line {} has {} {} where this run has {}; give another --out", path,
                                              line, name, found, value));
    }
    seen.add(chosen(table.rows[i], keys), line);
  }
}

// Throws on all ranks where one of them would make rows of another run: they would stand in one file.
void require_same_on_ranks(const Run::Fields& names, const std::map<std::string, std::string>& identity,
                           const std::vector<Run::Cell>& cells) {
  const Communicator& world = Communicator::world();
  if (world.size() == 1) return;
  croquis::Digest digest;
  digest.add(csv_lines({names}));
  for (const auto& [name, value] : identity) digest.add(csv_lines({{name, value}}));
  for (const Run::Cell& cell : cells) digest.add(csv_lines(cell));
  const std::string own = digest.hex();
  std::string first = own;
  world.broadcast(first);
  arma::mat other(1, 1);
  other(0) = own == first ? 0 : world.rank();
  world.maximum(other);
  if (other(0) == 0) return;
  throw std::invalid_argument(fmt::format(
      "rank {:.0f} has another input or other options than rank 0; start all ranks with the same", other(0)));
}

}  // namespace

Run::Run(const RunOptions& options, const std::string& command, std::vector<croquis::Column> columns,
         std::map<std::string, std::string> identity, const std::vector<Companion>& companions)
    : options_(options), command_(command), shard_(parse_shard(options.shard)) {
  table_.columns = std::move(columns);
  for (std::size_t c = 0; c < table_.columns.size(); ++c) {
    if (table_.columns[c].is_cell_key()) cell_.push_back(c);
    if (table_.columns[c].role == croquis::Role::part) row_.push_back(c);
  }
  identity["command"] = command;
  identity["--seed"] = std::to_string(options.seed);
  identity["--precision"] = options.precision;
  if (shard_.count > 1) identity["--shard"] = options.shard;
  description_ = {options.command_line, options.configuration, std::move(identity),
                  options.seed,         croquis::threads(),    std::filesystem::path(options.out).filename().string()};
  std::string found;
  if (Communicator::world().rank() == 0) {
    find_rows(companions);
    found = csv_lines({found_.begin(), found_.end()});
  }
  Communicator::world().broadcast(found);
  if (Communicator::world().rank() != 0) {
    for (Fields& key : rows_of_lines(found)) found_.insert(std::move(key));
  }
  std::signal(SIGINT, remember_signal);
  std::signal(SIGTERM, remember_signal);
}

void Run::find_rows(const std::vector<Companion>& companions) {
  const std::string meta = meta_file(options_.out);
  require_own_metadata(meta, options_.out);
  require_companions(options_.out, companions, existing_file(options_));
  if (existing_file(options_) == Existing::resume && has_rows_to_resume(options_.out, companions)) {
    require_same_identity(meta, description_);  // of a run that may have no rows yet
    description_.earlier = earlier_runs(meta);
  }
  const Fields names = names_of(table_.columns);
  file_.emplace(options_.out, names, existing_file(options_));
  if (!file_->found().empty()) {
    require_same_identity(meta, description_);
    description_.earlier = earlier_runs(meta);
  }
  std::vector<std::size_t> keys = cell_;
  keys.insert(keys.end(), row_.begin(), row_.end());
  check_found(options_.out, {names, file_->found()}, keys, options_);
  for (const Fields& row : file_->found()) {
    found_.insert(chosen(row, keys));
    try {
      table_.rows.push_back(croquis::parse_record(table_.columns, row));
    } catch (const std::invalid_argument& wrong) {
      throw std::invalid_argument(fmt::format("{}: line {}: {}", options_.out, table_.rows.size() + 2, wrong.what()));
    }
  }
  if (!file_->found().empty()) {
    const std::string change = change_since_run(options_.out);
    description_.edited = !change.empty();
    remarks_ = {change, other_programs(options_.out, description_.earlier)};
  }
}

// First of all goes what an earlier result has beside its rows, whether or not these are still there: the new meta file
// would say that it is of this run, and --resume would go on with it.
void Run::begin_files() {
  if (existing_file(options_) == Existing::overwrite) remove_companions(options_.out);
  file_->begin();
  write_metadata(meta_file(options_.out), description_);
}

Run::Fields Run::key(std::initializer_list<croquis::Value> values) {
  Fields key;
  for (const croquis::Value& value : values) key.push_back(croquis::text_of(value));
  return key;
}

void Run::plan(const std::vector<Cell>& cells, const std::function<void()>& clear) {
  require_same_on_ranks(names_of(table_.columns), description_.identity, cells);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Fields& first = cells[i].front();
    Fields cell(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(cell_.size()));
    const bool done = std::all_of(cells[i].begin(), cells[i].end(), [&](const Fields& key) { return has(key); });
    if (shard_.has(i) && !done) wanted_.insert(cell);
    const auto [place, is_new] = places_.emplace(std::move(cell), i);
    if (!is_new) {
      throw std::invalid_argument(fmt::format("{} = {} is asked for twice, perhaps in two spellings; leave one out",
                                              fmt::join(chosen(names_of(table_.columns), cell_), ","),
                                              fmt::join(place->first, ",")));
    }
  }
  if (file_) {
    require_planned(file_->found());
    if (clear) clear();
    description_.computes = found_.empty() || !wanted_.empty();
    begin_files();
  }
  for (const std::string& remark : remarks_) {
    if (!remark.empty()) say(fmt::format("croquis: {}; its rows are kept as they are\n", remark));
  }
  progress_ = std::make_unique<Progress>(wanted_.size(), options_.quiet || !file_);
  queue_ = std::make_unique<WorkQueue>(wanted_.size(), [this](const WorkQueue::Rows& rows) { deliver(rows); });
  show("preparing");
}

void Run::deliver(const WorkQueue::Rows& rows) {
  // Parsed before one of them is in the file: --resume could not go on from what is no row.
  std::vector<croquis::Record> parsed;
  parsed.reserve(rows.size());
  for (const Fields& row : rows) parsed.push_back(croquis::parse_record(table_.columns, row));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    file_->append(rows[i]);
    table_.rows.push_back(std::move(parsed[i]));
  }
  const std::lock_guard lock(showing_);
  progress_->show(++finished_, shown_);
}

bool Run::skip(std::size_t count) {
  if (divided_) return false;
  if (queue_->has(begun_ + count)) return false;
  begun_ += count;
  return true;
}

void Run::compute(std::size_t count, const std::string& what, const std::function<croquis::Record(std::size_t)>& row) {
  compute_steps(count, what, [&](std::size_t i) { return std::vector<croquis::Record>{row(i)}; });
}

void Run::compute_steps(std::size_t count, const std::string& what,
                        const std::function<std::vector<croquis::Record>(std::size_t)>& rows) {
  if (divided_) {
    show(what);
    for (std::size_t i = 0; i < count && !stopped(); ++i) {
      if (const std::vector<croquis::Record> made = rows(i); !made.empty()) queue_->put(fields_of(made));
    }
    return;
  }
  const std::size_t first = begun_;
  begun_ += count;
  show(what);
  croquis::parallel_for(std::min(count, static_cast<std::size_t>(croquis::threads())), [&](std::size_t) {
    stopping_others([&] {
      while (!stopped()) {
        const auto cell = queue_->take(begun_);
        if (!cell) return;
        const std::vector<croquis::Record> made = rows(*cell - first);
        if (!made.empty()) queue_->put(fields_of(made));
      }
    });
  });
}

void Run::for_each(std::size_t count, bool side_by_side, const std::function<void(std::size_t)>& body) {
  divided_ = side_by_side && Communicator::world().size() == 1;
  if (divided_) {
    croquis::parallel_for(count, [&](std::size_t i) { stopping_others([&] { body(i); }); });
  } else {
    for (std::size_t i = 0; i < count; ++i) body(i);
  }
  divided_ = false;
}

// What it throws ends the run: what is done beside it, and would be waited for, need not go on.
void Run::stopping_others(const std::function<void()>& body) {
  try {
    body();
  } catch (...) {
    failed_ = true;
    throw;
  }
}

void Run::compute_together(const std::string& what, const std::function<croquis::Record()>& row) {
  show(what);
  const croquis::Record made = row();
  if (file_) queue_->put(fields_of({made}));
}

void Run::show(const std::string& what) {
  const std::lock_guard lock(showing_);
  shown_ = what;
  progress_->show(finished_, shown_);
}

bool Run::interrupted() {
  return caught_signal != 0;
}

// Throws unless every row is of a cell that this run has: means over rows of other lists would mislead.
void Run::require_planned(const std::vector<Fields>& rows) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Fields key = chosen(rows[i], cell_);
    const auto place = places_.find(key);
    if (place != places_.end() && shard_.has(place->second)) continue;
    throw std::invalid_argument(
        fmt::format("{}: line {} ({} = {}) is none of the rows of this run; give the options that it was made with, or "
                    "another --out",
                    options_.out, i + 2, fmt::join(chosen(names_of(table_.columns), cell_), ","), fmt::join(key, ",")));
  }
}

// The places of the rows of the file in the order of the plan. Throws unless all of them are there.
std::vector<std::size_t> Run::order_of(const croquis::CsvTable& file) const {
  if (file.header != names_of(table_.columns)) {
    throw std::runtime_error(options_.out + ": was changed while this run was writing it");
  }
  require_planned(file.rows);
  std::vector<std::pair<std::size_t, std::size_t>> placed;  // place of the cell, place in the file
  std::set<std::size_t> cells;
  for (std::size_t i = 0; i < file.rows.size(); ++i) {
    placed.emplace_back(places_.at(chosen(file.rows[i], cell_)), i);
    cells.insert(placed.back().first);
  }
  std::size_t due = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) due += shard_.has(i) ? 1 : 0;
  if (cells.size() != due || file.rows.size() != table_.rows.size()) {
    throw std::runtime_error(fmt::format(
        "{}: {} of the {} rows that this run has made are gone, somebody else has written to the file; the "
        "same command with --resume computes them again",
        options_.out, table_.rows.size() - std::min(table_.rows.size(), file.rows.size()), table_.rows.size()));
  }
  std::sort(placed.begin(), placed.end());
  std::vector<std::size_t> order;
  order.reserve(placed.size());
  for (const auto& [cell, i] : placed) order.push_back(i);
  return order;
}

void Run::complete() {
  file_->require_in_place();
  croquis::CsvTable file = file_->read();
  const std::vector<std::size_t> order = order_of(file);
  if (!std::is_sorted(order.begin(), order.end())) {
    std::vector<Fields> lines;
    std::vector<croquis::Record> rows;
    for (const std::size_t i : order) {
      lines.push_back(std::move(file.rows[i]));
      rows.push_back(std::move(table_.rows[i]));
    }
    file.rows = std::move(lines);
    table_.rows = std::move(rows);
    file_->replace(file);
  }
  description_.finished =
      Finished{table_.rows.size(), places_.size(), chosen(names_of(table_.columns), cell_), shard_, file_->digest()};
  write_metadata(meta_file(options_.out), description_);
}

std::optional<int> Run::finish(const std::string& kept) {
  queue_->finish();
  progress_.reset();
  if (!file_) return interrupted() ? 128 + caught_signal : 0;
  if (interrupted() || finished_ < wanted_.size()) {
    file_->require_in_place();
    say(fmt::format("croquis {}: stopped; finished rows are in {}, the same command with --resume continues it\n",
                    command_, kept.empty() ? options_.out : kept));
    return 128 + (interrupted() ? caught_signal.load() : SIGTERM);  // that came to another rank
  }
  complete();
  if (shard_.count == 1) return {};
  if (!options_.quiet) {
    fmt::print("rows     {}: shard {} of {} cells; croquis merge puts the parts together\n", options_.out,
               options_.shard, places_.size());
  }
  return 0;
}
