// croquis show: a result again in the terminal.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands/command.hpp"
#include "report/text_plot.hpp"

namespace {

void show(const Result& result) {
  result.command->results.print(result.table);
  const Section section = section_of(result);
  for (const Chart& chart : section.charts) fmt::print("\n{}", text_of_chart(chart));
  fmt::print("\n");
  for (const std::string& answer : section.answers) fmt::print("{}\n", answer);
}

int run_show(const std::string& path) {
  const Result result = read_result(path);
  naming_its_file(result, [&] { show(result); });
  return 0;
}

}  // namespace

Command show_command() {
  const auto file = std::make_shared<std::string>();
  return {
      .name = "show",
      .summary = "a result again: its tables, and plots in characters",
      .example = "croquis show error.csv",
      .add_options = [file](CLI::App& app) { app.add_option("file", *file, "a CSV of another command")->required(); },
      .run = [file](const CLI::App&, const std::string&) { return run_show(*file); },
      .one_rank = true};
}
