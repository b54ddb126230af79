#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/bytes.hpp>
#include <croquis/io/csv.hpp>
#include <exception>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>

#include "commands/command.hpp"
#include "files/companions.hpp"
#include "files/metadata.hpp"
#include "files/progress.hpp"
#include "files/row_file.hpp"
#include "files/run.hpp"
#include "files/shown_groups.hpp"
#include "files/summary.hpp"
#include "files/whole_file.hpp"

// A line a command, in the order of --help.
#define CROQUIS_COMMANDS(add)                                                                                      \
  add(error) add(gradient) add(sketch) add(cost) add(variance) add(spectrum) add(dimension) add(choose) add(model) \
      add(verify) add(list) add(merge) add(plot) add(show) add(report)

#define CROQUIS_DECLARE(name) Command name##_command();
CROQUIS_COMMANDS(CROQUIS_DECLARE)

namespace {

// Whether the picture is drawn. Says so on standard error where there is nothing to draw: the run is complete all the
// same.
bool draw_of_run(const std::string& command, const std::string& picture, const std::function<void()>& draw) {
  if (picture.empty()) return false;
  try {
    draw();
    return true;
  } catch (const NothingToDraw& nothing) {  // a picture of an earlier run would be taken for that of these rows
    std::error_code failure;
    const bool removed = std::filesystem::remove(target_of(picture), failure);
    say(fmt::format("croquis {}: {}: is not drawn: {}{}\n", command, picture, nothing.why,
                    removed ? "; the picture that was there is removed" : ""));
    return false;
  }
}

}  // namespace

int conclude(Run& run) {
  if (const auto status = run.finish()) return *status;
  deliver(run);
  return 0;
}

void deliver(const Run& run) {
  const Results& results = command_named(run.command()).results;
  const RunOptions& options = run.options();
  results.write_summary(run.table(), options.out);
  draw_then_print(
      run.command(), options.plot, [&] { results.draw(run.table(), {.picture = options.plot}); },
      [&](bool drawn) {
        if (options.quiet) return;
        results.print(run.table());
        print_files(run.table(), options.out);
        if (drawn) fmt::print("plot     {}\n", options.plot);
      });
}

void draw_then_print(const std::string& command, const std::string& picture, const std::function<void()>& draw,
                     const std::function<void(bool drawn)>& print) {
  bool drawn = false;
  std::exception_ptr failure;
  try {
    drawn = draw_of_run(command, picture, draw);
  } catch (...) {
    failure = std::current_exception();
  }
  print(drawn);
  if (failure) std::rethrow_exception(failure);
}

const std::vector<Command>& commands() {
#define CROQUIS_MAKE(name) name##_command(),
  static const std::vector<Command> all = {CROQUIS_COMMANDS(CROQUIS_MAKE)};
  return all;
}

namespace {

// What rows of a command would need besides.
struct Lacking {
  std::string command;
  std::vector<std::string> columns;
};

}  // namespace

const Command& command_with(const std::vector<std::string>& columns, const std::string& path) {
  const std::set<std::string> there(columns.begin(), columns.end());
  std::string writers;
  Lacking nearest;
  for (const Command& command : commands()) {
    if (command.results.columns.empty()) continue;
    writers += fmt::format("{}{}", writers.empty() ? "" : ", ", command.name);
    std::set<std::string> known, needed;
    for (const croquis::Column& column : command.results.columns) {
      known.insert(column.name);
      // What describes a row may be of a later version than the file.
      const bool tells =
          column.is_cell_key() || column.role == croquis::Role::part || column.role == croquis::Role::metric;
      if (tells && column.option.empty()) needed.insert(column.name);
    }
    if (!std::includes(known.begin(), known.end(), there.begin(), there.end())) continue;  // of another program
    std::vector<std::string> missing;
    std::set_difference(needed.begin(), needed.end(), there.begin(), there.end(), std::back_inserter(missing));
    if (missing.empty()) return command;
    if (nearest.columns.empty() || missing.size() < nearest.columns.size()) nearest = {command.name, missing};
  }
  // X.summary.csv and the like stand beside a result.
  const std::filesystem::path name(path);
  const std::filesystem::path rows = std::filesystem::path(name).replace_extension().replace_extension(".csv");
  if (std::error_code status; rows != name && std::filesystem::exists(rows, status)) {
    throw std::invalid_argument(fmt::format("{}: has no rows of a run; give {}", path, rows.string()));
  }
  const std::vector<std::string> beside_rows = companions_of(rows.string());
  if (std::find(beside_rows.begin(), beside_rows.end(), path) != beside_rows.end()) {
    throw std::invalid_argument(
        fmt::format("{}: stands beside the rows of a run and has none; the rows, {}, are not here", path,
                    rows.filename().string()));
  }
  if (!nearest.columns.empty()) {
    throw std::invalid_argument(fmt::format("{}: is not a whole result of croquis {}: it lacks the columns {}", path,
                                            nearest.command, fmt::join(nearest.columns, ", ")));
  }
  throw std::invalid_argument(
      fmt::format("{}: is not a result of croquis {}: its columns are {}", path, writers, fmt::join(columns, ", ")));
}

const Command& command_named(const std::string& name) {
  for (const Command& command : commands()) {
    if (command.name == name) return command;
  }
  throw std::invalid_argument(fmt::format("'{}' is not a command of this program", name));
}

croquis::Table typed_table(const croquis::CsvTable& file, const Command& command, const std::string& path) {
  croquis::Table table;
  std::set<std::string> seen;
  for (const std::string& name : file.header) {
    // Each of its numbers would count as a draw.
    if (!seen.insert(name).second) {
      throw std::invalid_argument(fmt::format("{}: has the column '{}' twice; remove one of them", path, name));
    }
    const auto& columns = command.results.columns;
    const auto found = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
    if (found == columns.end()) throw std::invalid_argument(fmt::format("{}: unknown column '{}'", path, name));
    table.columns.push_back(*found);
  }
  for (const auto& fields : file.rows) {
    try {
      table.rows.push_back(croquis::parse_record(table.columns, fields));
    } catch (const std::invalid_argument& wrong) {
      throw std::invalid_argument(fmt::format("{}: line {}: {}", path, table.rows.size() + 2, wrong.what()));
    }
  }
  return table;
}

namespace {

// A file that no run has written is whole: its last line may have no line break (RFC 4180).
croquis::CsvTable read_foreign(const std::string& path) {
  std::string text = croquis::read_bytes(path);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  return croquis::parse_csv(text, path);
}

// In a sentence: 0.1 in place of the 17 digits of a file.
std::string shown(const croquis::Value& value) {
  const double* const number = std::get_if<double>(&value);
  return number == nullptr ? croquis::text_of(value) : fmt::format("{}", *number);
}

std::vector<std::string> key_of(const croquis::Record& row, const std::vector<std::size_t>& columns) {
  std::vector<std::string> key;
  for (const std::size_t c : columns) key.push_back(croquis::text_of(row[c]));
  return key;
}

// Rows with the same values in the columns `by` have one value in `column`.
void require_one_value(const croquis::Table& table, const std::string& path, std::size_t column,
                       const std::vector<std::size_t>& by) {
  std::map<std::vector<std::string>, std::size_t> first;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::size_t known = first.emplace(key_of(table.rows[i], by), i).first->second;
    const croquis::Value &value = table.rows[i][column], &other = table.rows[known][column];
    if (croquis::text_of(value) == croquis::text_of(other)) continue;
    throw std::invalid_argument(
        fmt::format("{}: line {} has {} = {} where line {}{} has {}; keep them in two files, which croquis report puts "
                    "on one page",
                    path, i + 2, table.columns[column].name, shown(value), known + 2,
                    by.empty() ? "" : ", otherwise of the same measurement,", shown(other)));
  }
}

// Of a file that no run has written as it is, such as one with the rows of two results: that they can stand together.
// What follows from the keys of a row, and what is said of all rows, is taken from any of them.
void require_one_result(const croquis::Table& table, const Command& command, const std::string& path) {
  std::vector<std::size_t> keys, all, subjects;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const croquis::Column& column = table.columns[c];
    const bool of_head =
        head_columns().contains(column.name);  // the name of the input need not tell its layer and head
    if (column.role <= croquis::Role::key || of_head) keys.push_back(c);
    if (column.role <= croquis::Role::part || of_head || column.name == "seed") all.push_back(c);
    if (column.role == croquis::Role::subject && !of_head) subjects.push_back(c);
  }
  for (const std::string& name : command.results.said_of_all) {
    if (table.has(name)) require_one_value(table, path, table.column(name), {});
  }
  for (const std::size_t subject : subjects) require_one_value(table, path, subject, keys);
  // The same draw once in double and once in float is not two draws.
  if (table.has("precision")) require_one_value(table, path, table.column("precision"), all);
  SeenRows seen(path);
  for (std::size_t i = 0; i < table.rows.size(); ++i) seen.add(key_of(table.rows[i], all), i + 2);
}

}  // namespace

Result read_result(const std::string& path) {
  require_result(path);
  const bool is_of_run = !identity_of_run(path).empty();
  const croquis::CsvTable file = is_of_run ? croquis::read_csv(path) : read_foreign(path);
  const Command& command = command_with(file.header, path);
  if (file.rows.empty()) throw std::invalid_argument(fmt::format("{}: has no rows yet", path));
  const std::string change = change_since_run(path);
  if (!change.empty()) say(fmt::format("croquis: {}\n", change));
  const std::string incomplete = incomplete_run(path);
  if (!incomplete.empty()) say(fmt::format("croquis: {}\n", incomplete));
  Result result{path, &command, typed_table(file, command, path), identity_of_run(path), !change.empty(), incomplete};
  if (!is_of_run || result.changed) require_one_result(result.table, command, path);
  return result;
}

void naming_its_file(const Result& result, const std::function<void()>& use) {
  try {
    use();
  } catch (const croquis::NoColumn& missing) {
    throw std::invalid_argument(fmt::format("{}: {}", result.path, missing.what()));
  }
}

Section section_of(const Result& result) {
  const Results& results = result.command->results;
  Section section = results.report(result.table);
  if (!result.incomplete.empty()) section.answers.insert(section.answers.begin(), result.incomplete + ".");
  if (results.remarks) {
    for (std::string& remark : results.remarks(result.table, result.identity)) {
      section.answers.push_back(std::move(remark));
    }
  }
  return section;
}
