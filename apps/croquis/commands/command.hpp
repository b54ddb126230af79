// A command of the program: its options, what it does, and what merge and plot need to know of its results.
#pragma once

#include <CLI/CLI.hpp>
#include <croquis/measure/columns.hpp>
#include <functional>
#include <string>
#include <vector>

/// How the rows of a command are summarised and drawn, by the command itself, by `croquis merge` and `croquis plot`.
struct Results {
  std::vector<croquis::Column> columns;  ///< all that there can be; empty: the command writes no rows
  /// Writes X.summary.csv; a command without a summary has none.
  std::function<void(const croquis::Table& table, const std::string& path)> write_summary;
  /// Draws a metric (empty: the default one) into a file. Throws std::invalid_argument when there is nothing to draw.
  std::function<void(const croquis::Table& table, const std::string& metric, const std::string& path)> draw;
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

/// All commands, in the order of --help.
const std::vector<Command>& commands();

/// The command whose rows have these columns. Throws std::invalid_argument, naming those there are, when there is none.
const Command& command_with(const std::vector<std::string>& columns);
/// The command of that name. Throws std::invalid_argument.
const Command& command_named(const std::string& name);

/// The table in a file that the command wrote. Throws std::invalid_argument with the line that is damaged.
croquis::Table read_table(const std::string& path, const Command& command);
/// The same where any command may have written it.
croquis::Table read_table(const std::string& path, const Command** command);
