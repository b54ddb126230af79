// Runs of croquis choose that go on where they were interrupted, or must not.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/choice_folder.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("choose: an interrupted run goes on, with the same answer") {
  const ChoiceFolder folder;
  const std::string question = kChooseSizes + "--eps 0.3 --delta 0.3 --methods skeinformer,linformer --quiet ";
  REQUIRE(run_croquis(question + "--out whole.csv --threads 1", folder.path()).status == 0);
  REQUIRE(run_croquis(question + "--out part.csv --threads 2", folder.path()).status == 0);
  CHECK(read_text(folder / "part.csv") == read_text(folder / "whole.csv"));
  CHECK(read_text(folder / "part.draws.csv") != "");
  // As if it had been killed in the middle of a line.
  const std::string draws = read_text(folder / "part.draws.csv"), rows = read_text(folder / "part.csv");
  write_text(folder / "part.draws.csv", draws.substr(0, draws.size() / 2));
  write_text(folder / "part.csv", rows.substr(0, rows.find('\n') + 1));
  const ProgramRun resumed = run_croquis(question + "--out part.csv --resume", folder.path());
  REQUIRE_MESSAGE(resumed.status == 0, resumed.output);
  CHECK(read_text(folder / "part.csv") == rows);
  CHECK(column_of(folder / "part.draws.csv", "error") == column_of(folder / "whole.draws.csv", "error"));
  // Another question is another run.
  const ProgramRun other = run_croquis(
      kChooseSizes + "--eps 0.4 --delta 0.3 --methods skeinformer,linformer --out part.csv --resume", folder.path());
  CHECK(other.status == 2);
  CHECK(contains(other.output, "question"));
}

TEST_CASE("choose: by the loss, a run that was killed while it wrote its rows goes on, whichever of them are there") {
  const ChoiceFolder folder;
  const std::string line =
      "choose --model model.safetensors --ids ids.npy --labels labels.npy --target-loss 9 --search-sequences 4 "
      "--methods v-mean --features 2 --max-cost 100 --quiet --out l.csv";
  REQUIRE(run_croquis(line, folder.path()).status == 0);
  const std::string rows = read_text(folder / "l.csv"), choice = read_text(folder / "l.json");
  const std::vector<std::string> lines = lines_of(rows);
  REQUIRE(lines.size() > 2);
  for (std::size_t there = 1; there < lines.size(); ++there) {
    CAPTURE(there);
    write_text(folder / "l.csv", lines[0] + '\n' + lines[there] + '\n');
    std::filesystem::remove(folder / "l.json");
    const ProgramRun resumed = run_croquis(line + " --resume", folder.path());
    REQUIRE_MESSAGE(resumed.status == 0, resumed.output);
    CHECK(read_text(folder / "l.csv") == rows);
    CHECK(read_text(folder / "l.json") == choice);
  }
}

TEST_CASE("choose --resume: an error that stands twice among the draws is named with its lines, and the draws stay") {
  const TemporaryFolder folder;
  const std::string line =
      "choose --input gaussian --n 32 --p 4 --methods performer --features 4 --trials 6 --quiet --out c.csv ";
  REQUIRE(run_croquis(line, folder.path()).status == 0);
  const std::string rows = read_text(folder / "c.csv");
  const std::vector<std::string> lines = lines_of(read_text(folder / "c.draws.csv"));
  REQUIRE(lines.size() > 3);
  // With another error, as a copy of the file that was put behind it would have.
  const std::size_t end = lines[2].rfind(','), cost = lines[2].rfind(',', end - 1),
                    error = lines[2].rfind(',', cost - 1) + 1;
  std::string draws;
  for (const std::string& draw : lines) draws += draw + '\n';
  draws += lines[2].substr(0, error) + "0.125" + lines[2].substr(cost) + '\n';
  for (const std::string& there : {rows, rows.substr(0, rows.find('\n') + 1)}) {  // finished, and before it has rows
    write_text(folder / "c.csv", there);
    write_text(folder / "c.draws.csv", draws);
    check_refused(run_croquis(line + "--resume", folder.path()),
                  fmt::format("c.draws.csv: line {} is a second result of what line 3 has", lines.size() + 1));
    CHECK(read_text(folder / "c.draws.csv") == draws);
    CHECK(read_text(folder / "c.csv") == there);
  }
}

TEST_CASE("choose: errors of a run without rows are not taken for those of another question or of another input") {
  const TemporaryFolder folder;
  const auto values = [&](double factor) {
    std::vector<double> numbers(16 * 3);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = factor * std::sin(static_cast<double>(i * i % 1009));
    return npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (16, 3), }", bytes_of(numbers));
  };
  write_text(folder / "q.npy", values(1));
  write_text(folder / "v.npy", values(2));
  const std::string line = "choose --q q.npy --k q.npy --v v.npy --methods v-mean --features 2 --quiet --out c.csv ";
  REQUIRE(run_croquis(line + "--eps 0.5", folder.path()).status == 0);
  const std::string rows = read_text(folder / "c.csv"), draws = read_text(folder / "c.draws.csv");
  const std::string header = rows.substr(0, rows.find('\n') + 1);
  const auto refused = [&](const std::string& options, const std::string& reason) {
    CAPTURE(options);
    const ProgramRun run = run_croquis(line + options, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(contains(run.output, reason), run.output);
    CHECK(read_text(folder / "c.draws.csv") == draws);
  };
  write_text(folder / "c.csv", header);
  refused("--resume --eps 0.6", "--resume: question was");
  refused("--resume --eps 0.5 --metric max_abs", "--resume: question was");
  refused("--resume --eps 0.5 --seed 2", "--resume: --seed was 1 and is 2 now");
  refused("--resume --eps 0.5 --precision float", "--resume: --precision was double and is float now");
  write_text(folder / "v.npy", values(3));
  refused("--resume --eps 0.5", "--resume: ");
  write_text(folder / "v.npy", values(2));
  // Nor unasked, where the rows are gone altogether.
  std::filesystem::remove(folder / "c.csv");
  refused("--eps 0.6", "c.draws.csv: is there already; --resume goes on with it");
  refused("--resume --eps 0.6", "--resume: question was");
  CHECK_FALSE(std::filesystem::exists(folder / "c.csv"));
  const ProgramRun same = run_croquis(line + "--eps 0.5 --resume", folder.path());
  REQUIRE_MESSAGE(same.status == 0, same.output);
  CHECK(read_text(folder / "c.csv") == rows);
}

TEST_CASE("choose --resume: draws of what is no candidate leave the file, and one without draws is of any question") {
  const TemporaryFolder folder;
  const std::string line =
      "choose --input gaussian --n 32 --p 4 --methods performer --features 4 --trials 6 --quiet --out c.csv ";
  REQUIRE(run_croquis(line, folder.path()).status == 0);
  const std::string rows = read_text(folder / "c.csv"), draws = read_text(folder / "c.draws.csv"),
                    header = rows.substr(0, rows.find('\n') + 1);
  std::string other = lines_of(draws).at(1) + '\n';
  const std::string features = ",performer,paper,4,";
  other.replace(other.find(features), features.size(), ",performer,paper,8,");
  write_text(folder / "c.csv", header);
  write_text(folder / "c.draws.csv", draws + other);
  const ProgramRun resumed = run_croquis(line + "--resume", folder.path());
  REQUIRE_MESSAGE(resumed.status == 0, resumed.output);
  CHECK(read_text(folder / "c.csv") == rows);
  CHECK(read_text(folder / "c.draws.csv") == draws);
  write_text(folder / "c.csv", header);
  write_text(folder / "c.draws.csv", draws.substr(0, draws.find('\n') + 1));
  const ProgramRun fresh = run_croquis(line + "--eps 0.7 --resume", folder.path());
  CHECK_MESSAGE(fresh.status == 0, fresh.output);
  CHECK(column_of(folder / "c.csv", "eps") == std::vector<std::string>{"0.69999999999999996"});
}

TEST_CASE("choose --overwrite: draws whose rows are gone go too, and are never taken for those of another question") {
  const TemporaryFolder folder;
  const std::string line =
      "choose --input gaussian --n 32 --p 4 --methods performer --features 4 --trials 6 --quiet --out ";
  const std::string other = "--metric max_abs ";
  REQUIRE(run_croquis(line + "fresh.csv " + other, folder.path()).status == 0);
  const std::string rows = read_text(folder / "fresh.csv"), draws = read_text(folder / "fresh.draws.csv");
  for (const bool is_empty : {false, true}) {  // removed, or left so by a run that was killed at its first write
    CAPTURE(is_empty);
    REQUIRE(run_croquis(line + "c.csv --overwrite", folder.path()).status == 0);
    CHECK(read_text(folder / "c.draws.csv") != draws);
    std::filesystem::remove(folder / "c.csv");
    if (is_empty) write_text(folder / "c.csv", "");
    check_refused(run_croquis(line + "c.csv --resume " + other, folder.path()), "--resume: question was");
    const ProgramRun run = run_croquis(line + "c.csv --overwrite " + other, folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK(read_text(folder / "c.csv") == rows);
    CHECK(read_text(folder / "c.draws.csv") == draws);
  }
  // What no run has written stays.
  write_text(folder / "c.draws.csv", "my own,notes\n1,2\n");
  check_refused(run_croquis(line + "c.csv --overwrite " + other, folder.path()),
                "c.draws.csv: is there and is not of this result");
  CHECK(read_text(folder / "c.draws.csv") == "my own,notes\n1,2\n");
  CHECK(read_text(folder / "c.csv") == rows);
}
