#include "support/tries.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <croquis/io/csv.hpp>
#include <deque>
#include <memory>
#include <sstream>

#include "support/text.hpp"

namespace {

bool is_one_clear_line(const std::string& text) {
  if (text.size() < 12 || !text.starts_with("croquis: ") || text.find('\n') != text.size() - 1) return false;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < ' ' || c == 0x7f || c == 0xff || c == 0xfe) return false;
  }
  return true;
}

// Every number of the rows is finite or the row says why not.
bool are_sound(const std::filesystem::path& file) {
  const croquis::CsvTable table = croquis::read_csv(file.string());
  const auto status = std::find(table.header.begin(), table.header.end(), "status") - table.header.begin();
  for (const auto& row : table.rows) {
    if (status < static_cast<std::ptrdiff_t>(row.size()) && row[static_cast<std::size_t>(status)] != "ok") continue;
    for (const std::string& field : row) {
      if (field == "nan" || field == "inf" || field == "-inf" || field == "-nan") return false;
    }
  }
  return !table.rows.empty();
}

}  // namespace

void check_all(const std::vector<Try>& tries, const TemporaryFolder& folder) {
  constexpr std::size_t side_by_side = 3;
  struct Running {
    const Try* what;
    std::filesystem::path folder;
    std::unique_ptr<Process> process;
  };
  std::deque<Running> running;
  const auto finish_one = [&] {
    Running first = std::move(running.front());
    running.pop_front();
    const ProgramRun run = first.process->wait();
    std::string line;
    for (const std::string& argument : first.what->arguments) line += " '" + argument.substr(0, 80) + "'";
    CAPTURE(line);
    CAPTURE(run.output);
    CHECK((run.status == 0 || run.status == 2));
    if (first.what->must_fail) CHECK(run.status == 2);
    if (run.status == 2) {
      CHECK(is_one_clear_line(run.output));
      std::istringstream names(first.what->names);
      bool named = false;
      for (std::string name; std::getline(names, name, '|');) named = named || contains(run.output, name);
      CHECK(named);
    } else if (std::filesystem::exists(first.folder / "rows.csv")) {
      CHECK(are_sound(first.folder / "rows.csv"));
    }
    std::filesystem::remove_all(first.folder);
  };
  for (std::size_t i = 0; i < tries.size(); ++i) {
    if (running.size() == side_by_side) finish_one();
    const std::filesystem::path own = folder / ("try" + std::to_string(i));
    std::filesystem::create_directory(own);
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
      if (file.is_regular_file()) std::filesystem::copy(file.path(), own);
    }
    write_text(own / "sparse.npy", "");
    std::filesystem::resize_file(own / "sparse.npy", std::uintmax_t{1} << 43);  // 8 TB that take no space
    running.push_back({&tries[i], own,
                       std::make_unique<Process>(tries[i].arguments, own,
                                                 ProcessSettings{.memory = std::size_t{3} << 30, .seconds = 20})});
  }
  while (!running.empty()) finish_one();
}
