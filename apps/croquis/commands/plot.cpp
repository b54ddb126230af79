// croquis plot: draws a result again.
#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "commands/command.hpp"
#include "files/row_file.hpp"
#include "pictures/gnuplot.hpp"

namespace {

struct PlotOptions {
  std::string file, out, metric;  ///< empty: FILE with .svg for .csv, the command's default metric
};

int run_plot(const PlotOptions& options) {
  const std::string out = options.out.empty() ? beside(options.file, ".svg") : options.out;
  check_plot_name(out);
  const croquis::CsvTable file = croquis::read_csv(options.file);
  const Command& command = command_with(file.header, options.file);
  command.results.draw(typed_table(file, command, options.file), options.metric, out);
  fmt::print("plot     {}\n", out);
  return 0;
}

}  // namespace

Command plot_command() {
  const auto options = std::make_shared<PlotOptions>();
  return {.name = "plot",
          .summary = "draw a result again",
          .example = "croquis plot error.csv --metric frobenius_rel --out error.png",
          .add_options =
              [options](CLI::App& app) {
                app.add_option("file", options->file, "a CSV of another command")->required();
                app.add_option("--out", options->out, "FILE.svg, .png or .pdf (default: the CSV's name with .svg)");
                app.add_option("--metric", options->metric, "column to draw (default: a relative spectral error)");
              },
          .run = [options](const CLI::App&, const std::string&) { return run_plot(*options); },
          .one_rank = true};
}
