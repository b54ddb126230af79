// Rows that --resume and croquis merge find: edited, of other runs, with other meta files. None is lost, and none taken
// for another.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>
#include <string>
#include <vector>

#include "apps/shard_runs.hpp"
#include "apps/small_errors.hpp"
#include "support/process.hpp"
#include "support/text.hpp"

TEST_CASE("--resume: a row twice, of another seed or of another run is named with its line, and nothing is changed") {
  TemporaryFolder folder;
  check_done(folder, kSmallGivenFiles + kTrials + "--out whole.csv");
  const std::vector<std::string> whole = lines_in(folder / "whole.csv");
  const auto check = [&](const std::vector<std::string>& lines, const std::string& reason) {
    write_lines(folder / "e.csv", lines);
    std::filesystem::copy_file(folder / "whole.meta.json", folder / "e.meta.json",
                               std::filesystem::copy_options::overwrite_existing);
    const std::string before = read_text(folder / "e.csv");
    check_refused(folder, kSmallGivenFiles + kTrials + "--out e.csv --resume", reason);
    CHECK(read_text(folder / "e.csv") == before);
    CHECK(read_text(folder / "e.meta.json") == read_text(folder / "whole.meta.json"));
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::vector<std::string> lines = whole;
    const std::size_t at = lines[3].find(from);
    REQUIRE(at != std::string::npos);
    lines[3].replace(at, from.size(), to);
    return lines;
  };
  std::vector<std::string> twice = whole;
  twice.push_back(whole[2]);
  check(twice, fmt::format("line {} is a second result of what line 3 has", twice.size()));
  check(with(",1,double,", ",7,double,"), "line 4 has seed 7 where this run has 1");
  check(with(",1,double,", ",1,float,"), "line 4 has precision float where this run has double");
  check(with("skyformer", "nosuchformer"), "line 4 (input,method,preset,features,trial = gaussian:2,nosuchformer");
  check(with(",1,1,double,", ",9,1,double,"), "is none of the rows of this run");
  // A shorter list is another run too.
  write_lines(folder / "e.csv", whole);
  check_refused(folder, kSmallGivenFiles + "--trials 3 --out e.csv --resume --features 8",
                "is none of the rows of this run");
  CHECK(read_text(folder / "e.meta.json") == read_text(folder / "whole.meta.json"));
  check_done(folder, kSmallGivenFiles + "--features 8,16 --out e.csv --resume --trials 4");
  CHECK(lines_in(folder / "e.csv").size() == 1 + 2 + 2 * 4);
}

TEST_CASE("--resume and merge: rows made with a file of landmarks that has changed since are those of another run") {
  TemporaryFolder folder;
  const auto landmarks = [&](double first) {
    croquis::write_npy((folder / "l.npy").string(), arma::vec{first, 4, 5, 6, 7, 8, 9, 10});
  };
  const std::string run =
      "error --input gaussian --n 24 --p 4 --trials 1 --quiet --methods skyformer:landmarks=given,indices=l.npy ";
  landmarks(0);
  check_done(folder, run + "--features 4 --out e.csv");
  check_done(folder, run + "--features 4,8 --shard 1/2 --out one.csv");
  check_done(folder, run + "--features 4,8 --out e.csv --resume");
  landmarks(20);
  check_refused(folder, run + "--features 4,8 --out e.csv --resume", "contents of l.npy");
  check_done(folder, run + "--features 4,8 --shard 2/2 --out two.csv");
  check_refused(folder, "merge both.csv one.csv two.csv", "contents of l.npy");
}

TEST_CASE("croquis merge: parts that were edited or reordered, and results that are a part's file, are refused") {
  TemporaryFolder folder;
  for (const char* part : {"1", "2"})
    check_done(folder, kSmallGivenFiles + kTrials + fmt::format("--shard {0}/2 --out p{0}.csv", part));
  const std::vector<std::string> lines = lines_in(folder / "p1.csv");
  const auto check = [&](const std::vector<std::string>& changed) {
    write_lines(folder / "p1.csv", changed);
    check_refused(folder, "merge all.csv p1.csv p2.csv", "p1.csv: is not as its run wrote it");
    CHECK_FALSE(std::filesystem::exists(folder / "all.csv"));
  };
  std::vector<std::string> reordered = lines, edited = lines;
  std::swap(reordered[1], reordered[2]);
  check(reordered);
  const std::size_t digit = edited[1].find("0.");
  REQUIRE(digit != std::string::npos);
  edited[1][digit + 2] = edited[1][digit + 2] == '1' ? '2' : '1';
  check(edited);
  write_lines(folder / "p1.csv", lines);
  for (const char* out : {"p1.csv", "p1", "p2.meta.json"}) {
    const std::string meta = read_text(folder / "p1.meta.json"), other = read_text(folder / "p2.meta.json");
    check_refused(folder, fmt::format("merge {} p1.csv p2.csv --overwrite", out), "");
    CHECK(read_text(folder / "p1.meta.json") == meta);
    CHECK(read_text(folder / "p2.meta.json") == other);
  }
  for (const char* damaged : {"[]", "{\"identity\":3}", "{\"identity\":{\"command\":1}}", "{", ""}) {
    const std::string meta = read_text(folder / "p1.meta.json");
    write_text(folder / "p1.meta.json", damaged);
    check_refused(folder, "merge all.csv p1.csv p2.csv", "p1.meta.json: is missing or damaged");
    write_text(folder / "p1.meta.json", meta);
  }
  check_done(folder, "merge all.csv p1.csv p2.csv");
  check_done(folder, kSmallGivenFiles + kTrials + "--out whole.csv");
  CHECK(rows_of(folder / "all.csv") == rows_of(folder / "whole.csv"));
}

TEST_CASE("--resume: rows that were edited after their run are kept, and the result says so from then on") {
  TemporaryFolder folder;
  const auto part = [](int i) { return kSmallGivenFiles + kTrials + fmt::format("--shard {0}/2 --out p{0}.csv ", i); };
  for (const int i : {1, 2}) check_done(folder, part(i));
  std::vector<std::string> lines = lines_in(folder / "p1.csv");
  const std::size_t digit = lines[1].find("0.");
  REQUIRE(digit != std::string::npos);
  lines[1][digit + 2] = lines[1][digit + 2] == '1' ? '2' : '1';
  write_lines(folder / "p1.csv", lines);
  for (int again = 0; again < 2; ++again) {  // it is not forgotten when the run is continued once more
    check_done(folder, part(1) + "--resume");
    CHECK(lines_in(folder / "p1.csv") == lines);
    check_refused(folder, "merge all.csv p1.csv p2.csv", "p1.csv: was changed before its run was continued");
    const ProgramRun shown = run_process(words("show p1.csv"), folder.path());
    CHECK(shown.status == 0);
    CHECK_MESSAGE(contains(shown.output, "p1.csv: was changed before"), shown.output);
  }
  check_done(folder, part(1) + "--overwrite");
  check_done(folder, "merge all.csv p1.csv p2.csv");
}

TEST_CASE("croquis merge: --overwrite replaces a result, with what it had beside it, and no other file") {
  TemporaryFolder folder;
  check_done(folder, kSmallGivenFiles + kTrials + "--shard 1/1 --out part.csv");
  write_text(folder / "Q.npy", std::string("\x93NUMPY\x01\0", 8));
  check_refused(folder, "merge Q.npy part.csv --overwrite", "Q.npy: is not a table that --overwrite could replace");
  CHECK(read_text(folder / "Q.npy").size() == 8);
  CHECK_FALSE(std::filesystem::exists(folder / "Q.npy.meta.json"));
  check_done(folder, "merge all.csv part.csv");
  write_text(folder / "all.heads.csv", "method,features,metric,heads,failed,median\nv-mean,8,max_abs,3,0,0.5\n");
  check_refused(folder, "merge all.csv part.csv", "all.csv: is there already; --overwrite replaces it");
  check_done(folder, "merge all.csv part.csv --overwrite");
  CHECK_FALSE(std::filesystem::exists(folder / "all.heads.csv"));
  CHECK(std::filesystem::exists(folder / "all.summary.csv"));
  // A part under the name of such a file is neither replaced nor removed.
  std::filesystem::rename(folder / "part.csv", folder / "all.draws.csv");
  std::filesystem::rename(folder / "part.meta.json", folder / "all.draws.meta.json");
  check_refused(folder, "merge all.csv all.draws.csv --overwrite", "is a part and the result");
  CHECK(std::filesystem::exists(folder / "all.draws.csv"));
}

TEST_CASE("--resume: meta files of any JSON are one line, without the parser's own words") {
  TemporaryFolder folder;
  check_done(folder, kSmallGivenFiles + kTrials + "--out e.csv");
  for (const char* meta : {"", "[]", "3", "{\"identity\":[]}", "{\"identity\":{\"command\":[1]}}", "{\"rows_file\":{}}",
                           "{\"identity\":{},\"rows_file\":7}"}) {
    write_text(folder / "e.meta.json", meta);
    const ProgramRun run = run_process(words(kSmallGivenFiles + kTrials + "--out e.csv --resume"), folder.path());
    CHECK(run.status == 2);
    CHECK_FALSE(contains(run.output, "json.exception"));
    CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
  }
}

// A file that replaces another is linked under a hidden name and renamed: between the two calls, some ten microseconds
// for each of four files of a run of 0.2 s, a kill leaves the name. So a kill leaves one with probability 2e-4, and
// three of forty do with probability 1e-7.

TEST_CASE("--resume: of a cell that has some of its rows, the others are added, each once") {
  const TemporaryFolder folder;
  for (const char* line : {"gradient --input gaussian --n 24 --p 4 --methods performer --features 4,8 --trials 4",
                           "dimension --input gaussian --n 24,32 --p 4 --epsilons 0.1,0.3,0.5 --trials 3",
                           "spectrum --input gaussian --n 20 --p 4 --matrices b,c"}) {
    CAPTURE(line);
    const std::string command = std::string(line) + " --quiet --out r.csv ";
    REQUIRE(run_croquis(command + "--overwrite", folder.path()).status == 0);
    const auto whole = rows_of(folder / "r.csv");
    std::vector<std::string> lines = lines_of(read_text(folder / "r.csv"));
    REQUIRE(lines.size() > 5);
    lines.resize(lines.size() - 2);  // no cell of these has fewer than three rows
    std::string kept;
    for (const std::string& one : lines) kept += one + '\n';
    write_text(folder / "r.csv", kept);
    const ProgramRun resumed = run_croquis(command + "--resume", folder.path());
    REQUIRE_MESSAGE(resumed.status == 0, resumed.output);
    CHECK(rows_of(folder / "r.csv") == whole);
  }
}

TEST_CASE("croquis error --resume: rows in any order, some of them missing, become the rows of one run") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallShards + "--trials 4 --quiet --out whole.csv", folder.path()).status == 0);
  const croquis::CsvTable whole = croquis::read_csv((folder / "whole.csv").string());
  std::string text = fmt::format("{}\n", fmt::join(whole.header, ","));
  for (std::size_t i = whole.rows.size(); i-- > 0;) {
    if (i % 3 == 1) continue;
    std::vector<std::string> row = whole.rows[i];
    for (std::string& field : row) field = croquis::csv_field(field);
    text += fmt::format("{}\n", fmt::join(row, ","));
  }
  write_text(folder / "part.csv", text);
  write_text(folder / "part.meta.json", read_text(folder / "whole.meta.json"));
  const ProgramRun resumed = run_croquis(kSmallShards + "--trials 4 --quiet --out part.csv --resume", folder.path());
  REQUIRE(resumed.status == 0);
  CHECK(resumed.output.find("part.csv: is not as its run wrote it") != std::string::npos);
  CHECK(resumed.output.find("its rows are kept as they are") != std::string::npos);
  CHECK(rows_of(folder / "part.csv") == rows_of(folder / "whole.csv"));
}
