// What the program reads of results that were made before. Results and their meta files are one input: CSV, NUL, JSON.
#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

#include "commands/command.hpp"
#include "fuzz/readers.hpp"
#include "report/page.hpp"
#include "report/text_plot.hpp"
#include "support/files.hpp"

namespace {

// The path of r.csv, with r.meta.json beside it.
std::string written(const std::string& bytes) {
  static const TemporaryFolder folder;
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  write_text(folder / "r.csv", bytes.substr(0, end));
  write_text(folder / "r.meta.json", bytes.substr(std::min(end + 1, bytes.size())));
  return (folder / "r.csv").string();
}

// croquis show and croquis report.
void read_as_result(const std::string& bytes) {
  const std::string path = written(bytes);
  try {
    const Result result = read_result(path);
    if (result.command->results.print) result.command->results.print(result.table);
    const Section section = section_of(result);
    for (const Chart& chart : section.charts) text_of_chart(chart);
    html_of_report(
        {{path, result.command->name, result.command->summary, result.table.rows.size(), section, result.changed}},
        "fuzz");
  } catch (const std::invalid_argument&) {
  }
}

void read_as_part(const std::string& bytes) {
  const std::string path = written(bytes);
  const Command& merge = command_named("merge");
  CLI::App app;
  merge.add_options(app);
  try {
    app.parse(std::vector<std::string>{"--overwrite", path, path + ".merged.csv"});  // CLI11 takes the last first
    merge.run(app, "");
  } catch (const std::invalid_argument&) {
  }
}

}  // namespace

std::vector<FuzzedReader> program_readers() {
  return {{"result", read_as_result, {}}, {"part", read_as_part, {}}};
}
