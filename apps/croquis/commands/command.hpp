// A command of the program: its options, what it does, and what merge and plot need to know of its results.
#pragma once

#include <CLI/CLI.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/measure/columns.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "options/common_options.hpp"
#include "pictures/plot_request.hpp"
#include "report/section.hpp"

class Run;

/// How the rows of a command are summarised, printed and drawn: by the command itself, and by `croquis merge`, `plot`,
/// `show` and `report`.
struct Results {
  std::vector<croquis::Column> columns;  ///< all that there can be; empty: the command writes no rows
  /// Those of X.summary.csv, where they are not the groups of the rows with statistics of every metric.
  std::vector<croquis::Column> summary_columns = {};
  /// Writes X.summary.csv beside the rows in `out`, and what belongs to it; a command without a summary has none.
  std::function<void(const croquis::Table& table, const std::string& out)> write_summary = {};
  /// Throws NothingToDraw, and std::invalid_argument for what this command's plot does not have.
  std::function<void(const croquis::Table& table, const PlotRequest& request)> draw = {};
  std::string picture = {};  ///< what `draw` draws, for plot --help
  /// The tables that the command ends with, on standard output.
  std::function<void(const croquis::Table& table)> print = {};
  /// What there is to say of the rows, which are one at least.
  std::function<Section(const croquis::Table& table)> report = {};
  /// What there is to say besides where the identity of the run is known.
  std::function<std::vector<std::string>(const croquis::Table& table,
                                         const std::map<std::string, std::string>& identity)>
      remarks = {};
  /// What a run has beside its rows and no summary: from what its shards have beside theirs, `parts` in their order, to
  /// what belongs beside `out`. Reads, and returns what then writes; throws std::invalid_argument for a part without
  /// it.
  std::function<std::function<void()>(const std::vector<std::string>& parts, const croquis::Table& table,
                                      const std::string& out)>
      merge_others = {};
  /// Columns that titles and sentences say of all rows.
  std::vector<std::string> said_of_all = {};
  /// Of other files beside X.csv, as "X.draws.csv".
  std::vector<std::pair<std::string, std::vector<croquis::Column>>> other_columns = {};
};

/// To add a command: a file in this folder with a function `Command NAME_command()`, and a line in registry.cpp.
struct Command {
  std::string name, summary;
  std::string example;  ///< shown at the end of --help
  std::function<void(CLI::App&)> add_options;
  /// Returns the exit status. On every rank, unless `one_rank`.
  std::function<int(const CLI::App& app, const std::string& command_line)> run;
  bool one_rank = false;
  Results results = {};
};

/// `run` of a command that measures: what the command line says of its options, then `measure`. For options with a
/// member `run`, and `input` where the command reads one.
template <typename Options>
std::function<int(const CLI::App&, const std::string&)> measuring(const std::shared_ptr<Options>& options,
                                                                  int (*measure)(const Options&)) {
  return [=](const CLI::App& app, const std::string& command_line) {
    if constexpr (requires { options->input; }) {
      infer_kind(app, options->input);
      infer_mask(options->input);
    }
    describe_run(app, command_line, options->run);
    return measure(*options);
  };
}

/// The end of a run of a command with Results::write_summary, print and draw, once its cells are computed: Run::finish,
/// then deliver. Returns the exit status.
int conclude(Run& run);
/// Of a run that has all rows: writes the summary, draws the plot, and prints the tables and which files there are (not
/// with --quiet).
void deliver(const Run& run);
/// Draws the picture of a run of that command, if one is wanted, and then prints: a reader that wants no more than the
/// first lines of the tables (croquis ... | head) ends the program. What is wrong with the picture is thrown once
/// everything is printed.
void draw_then_print(const std::string& command, const std::string& picture, const std::function<void()>& draw,
                     const std::function<void(bool drawn)>& print);

/// All commands, in the order of --help.
const std::vector<Command>& commands();

/// The command whose rows have these columns, those of the file `path`. Throws std::invalid_argument, naming those
/// there are, when there is none.
const Command& command_with(const std::vector<std::string>& columns, const std::string& path);
/// The command of that name. Throws std::invalid_argument.
const Command& command_named(const std::string& name);

/// The rows of a file that the command wrote, `path`, as values. Throws std::invalid_argument with the line that is
/// damaged.
croquis::Table typed_table(const croquis::CsvTable& file, const Command& command, const std::string& path);

/// A CSV that a command wrote.
struct Result {
  std::string path;
  const Command* command = nullptr;
  croquis::Table table;                              ///< of one row at least
  std::map<std::string, std::string> identity = {};  ///< of its run; empty where no meta file says
  bool changed = false;                              ///< since the run has written it
  std::string incomplete = {};                       ///< that results are missing, and what would do; or empty
};

/// Reads it; where it is not as its run wrote it or results are missing, a line on standard error says so. Throws
/// std::invalid_argument.
Result read_result(const std::string& path);

/// Does something with it; what is thrown about a column that its file lacks names the file.
void naming_its_file(const Result& result, const std::function<void()>& use);

/// What there is to say of it.
Section section_of(const Result& result);
