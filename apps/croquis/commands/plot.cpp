// croquis plot: draws a result again.
#include <fmt/format.h>

#include <croquis/core/choices.hpp>
#include <memory>
#include <string>

#include "commands/command.hpp"
#include "files/companions.hpp"
#include "options/lists.hpp"
#include "pictures/gnuplot.hpp"
#include "pictures/selection.hpp"

namespace {

struct PlotOptions {
  std::string file, out;  ///< empty: FILE with .svg for .csv
  std::string metric, methods, features, input, title, size, statistic = "median", x;
  bool heat_map = false;
};

PlotRequest request_of(const PlotOptions& options) {
  PlotRequest request{.picture = Picture(options.out.empty() ? beside(options.file, ".svg") : options.out)};
  check_plot_name(request.picture.path);
  request.picture.title = options.title;
  if (!options.size.empty()) request.picture.size = parse_picture_size(options.size);
  request.metric = options.metric;
  if (!options.methods.empty()) request.methods = croquis::split_list(options.methods, "--methods");
  if (!options.features.empty()) {
    for (const arma::uword d : parse_sizes(options.features, "--features")) request.features.push_back(d);
  }
  request.x = options.x;
  request.statistic = options.statistic == "mean" ? Statistic::mean : Statistic::median;
  request.heat_map = options.heat_map;
  return request;
}

int run_plot(const PlotOptions& options) {
  const PlotRequest request = request_of(options);
  Result result = read_result(options.file);
  if (!options.input.empty()) result.table = rows_of_input(std::move(result.table), options.input);
  naming_its_file(result, [&] { result.command->results.draw(result.table, request); });
  fmt::print("plot     {}\n", request.picture.path);
  return 0;
}

void add_options(CLI::App& app, PlotOptions& options) {
  app.add_option("file", options.file, "a CSV of another command")->required();
  app.option_defaults()->group("Which rows");
  app.add_option(
      "--metric", options.metric,
      "column to draw, a metric in croquis list columns (default: the one that --plot of that command draws)");
  app.add_option("--methods", options.methods, "draw these curves alone: methods, operators or maps, a,b");
  app.add_option("--features", options.features, "draw these d alone: 16,64 or 16:256 (doubling)");
  app.add_option("--input", options.input,
                 "draw this input alone, one head, by its name in the rows (default: all together)");
  app.option_defaults()->group("How they are drawn");
  app.add_option("--x", options.x, "what curves run over (default features, or n of croquis cost)")
      ->check(one_of({"features", "n", "flops", "seconds"}));
  app.add_option("--statistic", options.statistic,
                 "median, in a band of 10 to 90 % of the draws (all, if fewer than 5) or of all heads; or mean, with "
                 "its standard error")
      ->check(one_of({"median", "mean"}))
      ->capture_default_str();
  app.add_flag(
      "--heat-map", options.heat_map,
      "for croquis error: a map of the errors over layers and heads for each method, at one d (default the largest)");
  app.option_defaults()->group(kOutputGroup);
  app.add_option("--out", options.out, "FILE.svg, .png or .pdf (default: the CSV's name with .svg)");
  app.add_option("--title", options.title, "first line of the title (default: the input and its sizes)");
  app.add_option("--size", options.size, "WIDTHxHEIGHT in pixels, as 860x560; of a .pdf in points");
  std::string drawn = "What is drawn, of a result of\n";
  for (const Command& command : commands()) {
    if (!command.results.picture.empty()) drawn += fmt::format("  {:<10} {}\n", command.name, command.results.picture);
  }
  app.footer(drawn);
}

}  // namespace

Command plot_command() {
  const auto options = std::make_shared<PlotOptions>();
  return {.name = "plot",
          .summary = "draw a result again",
          .example = "croquis plot error.csv --metric frobenius_rel --methods skyformer,v-mean --out error.png",
          .add_options = [options](CLI::App& app) { add_options(app, *options); },
          .run = [options](const CLI::App&, const std::string&) { return run_plot(*options); },
          .one_rank = true};
}
