// The tables of docs/results.md are what the program says of its columns (docs/columns.sh writes them).
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "docs/pages.hpp"
#include "support/program.hpp"

namespace {

// The lines of tables under each title, where `title_of` finds a title in a line.
template <typename TitleOf>
std::map<std::string, std::string> tables_in(std::istream& text, const TitleOf& title_of) {
  std::map<std::string, std::string> tables;
  std::string title;
  for (std::string line; std::getline(text, line);) {
    if (const std::string found = title_of(line); !found.empty()) title = found;
    if (line.starts_with("|") && !title.empty()) {
      tables[title] += line;
      tables[title] += '\n';
    }
    if (line == "<!-- end of columns -->") title.clear();
  }
  return tables;
}

}  // namespace

TEST_CASE("docs/results.md: has every table of croquis list columns, as it is; docs/columns.sh PROGRAM renews them") {
  const TemporaryFolder folder;
  const ProgramRun run = run_croquis("list columns", folder.path());
  REQUIRE(run.status == 0);
  std::istringstream output(run.output);
  const auto said =
      tables_in(output, [](const std::string& line) { return line.starts_with("croquis ") ? line : std::string(); });
  std::ifstream page(project_root() / "docs/results.md");
  const auto written = tables_in(page, [](const std::string& line) {
    const std::string begin = "<!-- columns of ";
    return line.starts_with(begin) ? line.substr(begin.size(), line.size() - begin.size() - 4) : std::string();
  });
  CHECK(said.size() >= 9);
  CHECK(said == written);
}
