#include "support/program.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <croquis/io/csv.hpp>

#include <algorithm>
#include <cstdio>
#include <set>
#include <stdexcept>

#include "support/text.hpp"

ProgramRun run_command(const std::string& command, const std::filesystem::path& folder) {
  const std::string whole =
      fmt::format("CROQUIS='{}'; cd '{}' && {{ {}\n}} 2>&1", CROQUIS_PROGRAM, folder.string(), command);
  std::FILE* pipe = ::popen(whole.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("popen failed");
  ProgramRun run;
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) run.output.append(buffer, count);
  const int status = ::pclose(pipe);
  run.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return run;
}

ProgramRun run_croquis(const std::string& arguments, const std::filesystem::path& folder) {
  return run_command("$CROQUIS " + arguments, folder);
}

void check_refused(const ProgramRun& run, const std::string& words) {
  CHECK(run.status == 2);
  CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
  CHECK_MESSAGE(contains(run.output, words), run.output);
}

std::vector<std::string> column_of(const std::filesystem::path& file, const std::string& name) {
  const croquis::CsvTable table = croquis::read_csv(file.string());
  std::vector<std::string> values;
  for (const auto& row : table.rows) values.push_back(row[table.column(name)]);
  return values;
}

std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& file) {
  croquis::CsvTable table = croquis::read_csv(file.string());
  for (std::size_t i = table.header.size(); i-- > 0;) {
    if (!table.header[i].starts_with("seconds")) continue;
    for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return table.rows;
}

std::vector<std::vector<std::string>> rows_of(const std::filesystem::path& file, const std::string& input) {
  const croquis::CsvTable table = croquis::read_csv(file.string());
  const std::set<std::string> names = {"seconds", "input", "layer", "head"};
  std::set<std::size_t> others;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (names.contains(table.header[i])) others.insert(i);
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : table.rows) {
    if (row[table.column("input")] != input) continue;
    rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!others.contains(i)) rows.back().push_back(row[i]);
    }
  }
  return rows;
}
