// Files that a run is given or finds: damaged, edited, replaced, links, pipes. Nobody's file is lost, and no row
// either.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "support/process.hpp"
#include "support/text.hpp"

namespace {

const std::string kSmallGivenFiles = "error --input gaussian --n 32 --p 4 --methods v-mean,skyformer --quiet ";
const std::string kTrials = "--features 8,16 --trials 3 ";

// The program says one line with this in it, and its status is 2.
void check_refused(const TemporaryFolder& folder, const std::string& arguments, const std::string& reason) {
  CAPTURE(arguments);
  const ProgramRun run = run_process(words(arguments), folder.path(), {.seconds = 10});
  CHECK(run.status == 2);
  CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
  CHECK_MESSAGE(contains(run.output, reason), run.output);
}

void check_done(const TemporaryFolder& folder, const std::string& arguments) {
  const ProgramRun run = run_process(words(arguments), folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
}

std::vector<std::string> lines_in(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::istringstream text(read_text(file));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

void write_lines(const std::filesystem::path& file, const std::vector<std::string>& lines) {
  write_text(file, fmt::format("{}\n", fmt::join(lines, "\n")));
}

// How many there were.
std::size_t remove_hidden_files(const TemporaryFolder& folder) {
  std::vector<std::filesystem::path> hidden;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
    if (file.path().filename().string().starts_with('.')) hidden.push_back(file.path());
  }
  for (const auto& path : hidden) std::filesystem::remove(path);
  return hidden.size();
}

}  // namespace

TEST_CASE(
    "a result that is removed and made again by another run: each run ends with its rows, or says where they are") {
  TemporaryFolder folder;
  const std::string line = "error --n 64 --p 8 --methods v-mean,performer --features 8,16 --quiet --out e.csv ";
  Process first(words(line + "--trials 900000"), folder.path());
  while (!std::filesystem::exists(folder / "e.csv") || read_text(folder / "e.csv").size() < 20000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::filesystem::remove(folder / "e.csv");
  const ProgramRun second = run_process(words(line + "--trials 40 --seed 2"), folder.path());
  CHECK_MESSAGE(second.status == 0, second.output);
  const ProgramRun run = first.wait();
  CHECK(run.status == 2);
  CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
  CHECK_MESSAGE(contains(run.output, "e.csv: was removed or replaced while this run was writing it"), run.output);
  CHECK_MESSAGE(contains(run.output, "e.rescued-1.csv"), run.output);
  const croquis::CsvTable others = croquis::read_csv((folder / "e.csv").string());
  CHECK(others.rows.size() == 2 + 2 * 40);
  for (const auto& row : others.rows) CHECK(row[others.column("seed")] == "2");
  CHECK(nlohmann::json::parse(read_text(folder / "e.meta.json"))["finished"]["rows"] == others.rows.size());
  const croquis::CsvTable rescued = croquis::read_csv((folder / "e.rescued-1.csv").string());
  CHECK(rescued.rows.size() > 50);
  for (const auto& row : rescued.rows) CHECK(row[rescued.column("seed")] == "1");
}

TEST_CASE("a result whose rows somebody removes while it is made: the run does not end as finished") {
  TemporaryFolder folder;
  const std::string line = "error --n 64 --p 8 --methods v-mean,performer --features 8,16 --quiet --out e.csv ";
  Process run(words(line + "--trials 300"), folder.path());
  while (!std::filesystem::exists(folder / "e.csv") || read_text(folder / "e.csv").size() < 5000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const std::string header = lines_in(folder / "e.csv").front();
  std::filesystem::resize_file(folder / "e.csv", header.size() + 1);
  const ProgramRun end = run.wait();
  CHECK(end.status == 2);
  CHECK_MESSAGE(contains(end.output, "are gone"), end.output);
  check_done(folder, line + "--trials 300 --resume");
  CHECK(croquis::read_csv((folder / "e.csv").string()).rows.size() == 2 + 2 * 300);
}

TEST_CASE(
    "links: --out and --plot write what they point to, with any number of threads, and planted ones are not followed") {
  for (const char* threads : {"1", "2"}) {
    TemporaryFolder folder;
    std::filesystem::create_directory(folder / "far");
    for (const char* name : {"e.csv", "e.svg"}) {
      std::filesystem::create_symlink(std::filesystem::path("far") / name, folder / name);
    }
    write_text(folder / "victim", "keep\n");
    for (const char* name : {".part-e.csv", ".part-e.meta.json", ".part-e.svg", ".part-e.summary.csv"}) {
      std::filesystem::create_symlink("victim", folder / name);
    }
    check_done(folder, kSmallGivenFiles + "--features 8,16 --trials 40 --out e.csv --plot e.svg --threads " + threads);
    CHECK(std::filesystem::is_symlink(folder / "e.csv"));
    CHECK(std::filesystem::is_symlink(folder / "e.svg"));
    CHECK(croquis::read_csv((folder / "far" / "e.csv").string()).rows.size() == 2 + 2 * 40);
    CHECK(contains(read_text(folder / "far" / "e.svg"), "</svg>"));
    CHECK(read_text(folder / "victim") == "keep\n");
  }
}

TEST_CASE("pipes, devices and open descriptors are refused as results, at once and without files beside them") {
  TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe.csv").c_str(), 0600) == 0);
  REQUIRE(::mkfifo((folder / "pipe.svg").c_str(), 0600) == 0);
  std::filesystem::create_symlink("/dev/stdout", folder / "out.csv");
  std::filesystem::create_symlink("loop.csv", folder / "loop.csv");
  for (const char* how : {"", " --resume", " --overwrite"}) {
    check_refused(folder, kSmallGivenFiles + kTrials + "--out pipe.csv" + how,
                  "pipe.csv: cannot be written: it is not a regular file");
    check_refused(folder, kSmallGivenFiles + kTrials + "--out /dev/stdout" + how, "/dev/stdout: cannot be written");
    check_refused(folder, kSmallGivenFiles + kTrials + "--out out.csv" + how, "out.csv: cannot be written");
    check_refused(folder, kSmallGivenFiles + kTrials + "--out loop.csv" + how,
                  "loop.csv: is a link that leads nowhere");
    check_refused(folder, kSmallGivenFiles + kTrials + "--out e.csv --plot pipe.svg" + how,
                  "pipe.svg: cannot be written");
  }
  const ProgramRun redirected = run_croquis(kSmallGivenFiles + kTrials + "--out /dev/stdout >all.txt", folder.path());
  CHECK(redirected.status == 2);
  CHECK(read_text(folder / "all.txt").empty());
  CHECK_FALSE(std::filesystem::exists("/dev/stdout.meta.json"));
  check_done(folder, kSmallGivenFiles + kTrials + "--out e.csv");
  std::filesystem::remove(folder / "e.meta.json");
  REQUIRE(::mkfifo((folder / "e.meta.json").c_str(), 0600) == 0);
  check_refused(folder, kSmallGivenFiles + kTrials + "--out e.csv --resume", "e.meta.json: is missing or damaged");
}

TEST_CASE("files of one run that would be one file, or another result's: refused before anything is written") {
  TemporaryFolder folder;
  check_refused(folder, kSmallGivenFiles + kTrials + "--out z.svg --plot z.svg", "z.svg would be --plot too");
  check_refused(folder, kSmallGivenFiles + kTrials + "--out z.svg --plot ./z.svg", "z.svg would be --plot too");
  CHECK(std::filesystem::is_empty(folder.path()));
  check_done(folder, kSmallGivenFiles + kTrials + "--out a.csv");
  const std::string meta = read_text(folder / "a.meta.json");
  check_refused(folder, kSmallGivenFiles + kTrials + "--out a", "a: its meta file would be that of a.csv");
  check_refused(folder, kSmallGivenFiles + kTrials + "--out a --overwrite", "a: its meta file would be that of a.csv");
  CHECK(read_text(folder / "a.meta.json") == meta);
  // Renamed together, they are a result as before.
  std::filesystem::rename(folder / "a.csv", folder / "b.csv");
  std::filesystem::rename(folder / "a.meta.json", folder / "b.meta.json");
  check_done(folder, kSmallGivenFiles + kTrials + "--out b.csv --resume");
  write_text(folder / "Q.npy", std::string("\x93NUMPY\x01\0", 8));
  check_refused(folder, kSmallGivenFiles + kTrials + "--out Q.npy --overwrite",
                "Q.npy: is not a table that --overwrite could replace");
  CHECK(read_text(folder / "Q.npy").size() == 8);
}

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

TEST_CASE("--overwrite: what the earlier result had beside its rows goes with it, and nothing else does") {
  TemporaryFolder folder;
  const std::string error = kSmallGivenFiles + kTrials + "--out r.csv", results[] = {"r.summary.csv", "r.heads.csv"};
  check_done(folder, error);
  write_text(folder / "r.heads.csv", "method,features,metric,heads,failed,median\nv-mean,8,max_abs,3,0,0.5\n");
  write_text(folder / "r.layers.csv", "my own notes\n");
  check_done(folder, kSmallGivenFiles + kTrials + "--out r.steps.csv");  // another result
  check_done(folder,
             "choose --input gaussian --n 32 --p 4 --eps 5 --methods v-mean --features 4 --quiet --out r.csv "
             "--overwrite");
  for (const std::string& name : results) CHECK_FALSE(std::filesystem::exists(folder.path() / name));
  CHECK(std::filesystem::exists(folder / "r.draws.csv"));
  CHECK(read_text(folder / "r.layers.csv") == "my own notes\n");
  check_done(folder, error + " --overwrite");
  CHECK_FALSE(std::filesystem::exists(folder / "r.draws.csv"));
  CHECK(std::filesystem::exists(folder / "r.summary.csv"));
  CHECK(std::filesystem::exists(folder / "r.steps.csv"));
  // Of a name without rows nothing is known.
  write_text(folder / "new.heads.csv", "a,b\n1,2\n");
  check_done(folder, kSmallGivenFiles + kTrials + "--out new.csv --overwrite");
  CHECK(std::filesystem::exists(folder / "new.heads.csv"));
}

TEST_CASE("croquis choose: X.json that is no choice is not replaced") {
  TemporaryFolder folder;
  const std::string choose =
      "choose --input gaussian --n 32 --p 4 --eps 5 --methods v-mean --features 4 --quiet --out config.csv";
  write_text(folder / "config.json", "{\"hidden_size\": 4}\n");
  for (const char* how : {"", " --overwrite", " --resume"}) {
    check_refused(folder, choose + how, "config.json: is there, is no choice, and would be replaced");
  }
  CHECK(read_text(folder / "config.json") == "{\"hidden_size\": 4}\n");
  CHECK_FALSE(std::filesystem::exists(folder / "config.csv"));
  std::filesystem::remove(folder / "config.json");
  check_done(folder, choose);
  check_done(folder, choose + " --overwrite");
}

TEST_CASE("names that are none of a file are refused as results") {
  TemporaryFolder folder;
  check_refused(folder, kSmallGivenFiles + kTrials + "--out -",
                "-: cannot be written: it is not a regular file but an open descriptor; give a file");
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--out", ""}, {"--plot", ""}, {"--out=", "--quiet"}}) {
    std::vector<std::string> arguments = words(kSmallGivenFiles + kTrials);
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramRun run = run_process(arguments, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE((contains(run.output, ": is empty, perhaps from a shell variable that is not set") ||
                   contains(run.output, "'--quiet' looks like an option; of a file, write ./--quiet")),
                  run.output);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
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
TEST_CASE("killed at any moment, a run leaves no file but its own, or one between two calls of the system") {
  TemporaryFolder folder;
  int left = 0;
  for (int delay = 0; delay < 40; ++delay) {
    Process process(words(kSmallGivenFiles + kTrials + "--out e.csv --plot e.svg --overwrite"), folder.path());
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * delay));
    process.send(SIGKILL);
    process.wait();
    left += static_cast<int>(remove_hidden_files(folder));
  }
  CHECK(left <= 2);
}
