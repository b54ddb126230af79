// croquis report: results as one page.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "commands/command.hpp"
#include "files/companions.hpp"
#include "files/whole_file.hpp"
#include "report/page.hpp"

namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string out, title;  ///< empty: the first file's name with .html; the names of the files
};

std::string page_of(const ReportOptions& options) {
  std::string out = options.out.empty() ? beside(options.files.front(), ".html") : options.out;
  const std::string ending = std::filesystem::path(out).extension().string();
  if (ending != ".html" && ending != ".htm") {
    throw std::invalid_argument(fmt::format("--out: {}: a page ends in .html or .htm", out));
  }
  return out;
}

int run_report(const ReportOptions& options) {
  const std::string out = page_of(options);
  std::vector<ReportedFile> reported;
  std::string title = options.title;
  for (const std::string& path : options.files) {
    const Result result = read_result(path);
    Section section;
    naming_its_file(result, [&] { section = section_of(result); });
    reported.push_back({path, result.command->name, result.command->summary, result.table.rows.size(),
                        std::move(section), result.changed});
    if (options.title.empty()) {
      title += fmt::format("{}{}", title.empty() ? "Results: " : ", ", std::filesystem::path(path).stem().string());
    }
  }
  write_whole(out, html_of_report(reported, title));
  fmt::print("page     {}\n", out);
  return 0;
}

void add_options(CLI::App& app, ReportOptions& options) {
  app.add_option("files", options.files, "CSV files of other commands, a section each")->required();
  app.option_defaults()->group(kOutputGroup);
  app.add_option("--out", options.out, "FILE.html (default: the first CSV's name with .html)");
  app.add_option("--title", options.title, "of the page (default: the names of the files)");
}

}  // namespace

Command report_command() {
  const auto options = std::make_shared<ReportOptions>();
  return {.name = "report",
          .summary = "results as one page that needs nothing else: plots, maps, tables, how they were made",
          .example = "croquis report error.csv choice.csv --out report.html",
          .add_options = [options](CLI::App& app) { add_options(app, *options); },
          .run = [options](const CLI::App&, const std::string&) { return run_report(*options); },
          .one_rank = true};
}
