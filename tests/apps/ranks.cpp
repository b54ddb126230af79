// croquis on several ranks of MPI, from the outside.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/formula_model.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"

namespace {

// The environment of the test lets root do this, and in a container.
const std::string kMpirun = "mpirun --oversubscribe -n {} ";

ProgramRun run_ranks(int ranks, const std::string& arguments, const TemporaryFolder& folder) {
  return run_command(fmt::format(fmt::runtime(kMpirun), ranks) + "$CROQUIS " + arguments, folder.path());
}

const std::string kSweep =
    "error --input clustered --n 128 --p 8 --methods v-mean,skyformer,linformer,performer --features 8,32 --trials 5 "
    "--quiet ";
// Cells of some hundredths of a second, some hundred of them.
const std::string kLong =
    "error --input gaussian --n 1536 --p 16 --methods skeinformer,skyformer --features 256,512 "
    "--trials 25 --threads 1 --quiet ";

// Waits until the job has written some rows, or is over.
const std::string kUntilSome =
    "until [ -f k.csv ] && [ $(wc -l < k.csv) -gt 20 ] || ! kill -0 $job 2>/dev/null; do sleep 0.05; done; ";

std::set<std::string> set_of_lines(const std::filesystem::path& file) {
  const std::string text = read_text(file);
  std::set<std::string> lines;
  for (std::size_t start = 0, end = 0; (end = text.find('\n', start)) != std::string::npos; start = end + 1) {
    lines.insert(text.substr(start, end - start));
  }
  return lines;
}

}  // namespace

TEST_CASE("croquis error: 1, 2, 3 and 4 ranks give the rows of one process, in its order, with its summary") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSweep + "--out one.csv", folder.path()).status == 0);
  for (const int ranks : {1, 2, 3, 4}) {
    CAPTURE(ranks);
    const std::string name = fmt::format("r{}", ranks);
    const ProgramRun run =
        run_ranks(ranks, fmt::format("{} --threads {} --out {}.csv", kSweep, 1 + ranks % 2, name), folder);
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK(run.output.empty());
    CHECK(rows_of(folder / (name + ".csv")) == rows_of(folder / "one.csv"));
    CHECK(read_text(folder / (name + ".summary.csv")) == read_text(folder / "one.summary.csv"));
  }
}

TEST_CASE("croquis: steps of several rows, preparations and shards are shared among ranks") {
  for (const std::string command :
       {"spectrum --input gaussian --n 40 --p 6 --quiet",
        "dimension --input gaussian --n 24,32 --p 4 --trials 3 --quiet",
        "variance --p 4 --features 4,8 --norms 1,2 --trials 3 --quiet",
        "error --input gaussian --n 64 --p 6 --features 8 --methods skyformer,v-mean --quiet --shard 2/3"}) {
    CAPTURE(command);
    TemporaryFolder folder;
    REQUIRE(run_croquis(command + " --out one.csv", folder.path()).status == 0);
    const ProgramRun run = run_ranks(3, command + " --out r3.csv", folder);
    REQUIRE_MESSAGE(run.status == 0, run.output);
    if (command.starts_with("error")) {
      CHECK(rows_of(folder / "r3.csv") == rows_of(folder / "one.csv"));
    } else {
      CHECK(read_text(folder / "r3.csv") == read_text(folder / "one.csv"));
    }
  }
}

TEST_CASE("croquis error: names of files come as they are from other ranks, whatever their bytes") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(17);  // any numbers will do
  const std::string odd = "a\037b, \"c\"";
  for (const std::string& name : {std::string("k"), odd}) {
    croquis::write_npy((folder / (name + ".npy")).string(), arma::mat(301, 6, arma::fill::randn));
  }
  // Some hundredths of a second in all, so that every rank has cells.
  const std::string command = fmt::format(
      "error --q '{}.npy' --k k.npy --v k.npy --methods performer --features 8,16,32 --trials 40 --quiet ", odd);
  REQUIRE(run_croquis(command + "--threads 1 --out one.csv", folder.path()).status == 0);
  const ProgramRun run = run_ranks(3, command + "--threads 1 --out r3.csv", folder);
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(column_of(folder / "r3.csv", "input") == std::vector<std::string>(120, "arrays:" + odd));
  CHECK(rows_of(folder / "r3.csv") == rows_of(folder / "one.csv"));
  CHECK(read_text(folder / "r3.summary.csv") == read_text(folder / "one.summary.csv"));
}

TEST_CASE("croquis: a rank that is killed loses no row in the file; --resume with other ranks does the rest") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kLong + "--out one.csv", folder.path()).status == 0);
  for (const char* rank : {"1", "2", "3"}) {  // field of the list of mpirun's children: rank 0, 1 or 2
    CAPTURE(rank);
    std::filesystem::remove(folder / "k.csv");
    const std::string start = fmt::format(fmt::runtime(kMpirun), 3) + "$CROQUIS " + kLong + "--out k.csv & job=$!; ";
    const ProgramRun killed = run_command(
        start + kUntilSome + "kill -9 $(cut -d ' ' -f " + rank + " /proc/$job/task/$job/children); wait $job",
        folder.path());
    CHECK(killed.status != 0);
    const std::set<std::string> before = set_of_lines(folder / "k.csv");
    CHECK(before.size() > 20);
    const ProgramRun resumed = run_ranks(2, kLong + "--out k.csv --resume", folder);
    REQUIRE_MESSAGE(resumed.status == 0, resumed.output);
    const std::set<std::string> after = set_of_lines(folder / "k.csv");
    CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
    CHECK(rows_of(folder / "k.csv") == rows_of(folder / "one.csv"));
  }
}

TEST_CASE("croquis: a job that is ended loses no row in the file; one process resumes it") {
  TemporaryFolder folder;
  const std::string start = fmt::format(fmt::runtime(kMpirun), 2) + "$CROQUIS " + kLong + "--out k.csv & job=$!; ";
  const ProgramRun ended = run_command(start + kUntilSome + "kill -TERM $job; wait $job", folder.path());
  CHECK(ended.status != 0);
  const std::set<std::string> before = set_of_lines(folder / "k.csv");
  const ProgramRun resumed = run_croquis(kLong + "--out k.csv --resume", folder.path());
  REQUIRE_MESSAGE(resumed.status == 0, resumed.output);
  const std::set<std::string> after = set_of_lines(folder / "k.csv");
  CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
  REQUIRE(run_croquis(kLong + "--out one.csv", folder.path()).status == 0);
  CHECK(rows_of(folder / "k.csv") == rows_of(folder / "one.csv"));
}

TEST_CASE("croquis on ranks: what is wrong is said once, by rank 0, with status 2") {
  TemporaryFolder folder;
  write_text(folder / "there.csv", "mine\n");
  for (const std::string arguments : {"error --features 0", "frobnicate", "error --q none.npy --k k.npy --v v.npy",
                                      "error --n 300 --out there.csv", "error --shard 3/2"}) {
    CAPTURE(arguments);
    const ProgramRun run = run_ranks(3, arguments, folder);
    CAPTURE(run.output);
    CHECK(run.status == 2);
    CHECK(run.output.find("croquis: ") != std::string::npos);
    CHECK(run.output.find("croquis: ") == run.output.rfind("croquis: "));
    CHECK(run.output.find("croquis on rank") == std::string::npos);
  }
  const ProgramRun list = run_ranks(3, "list inputs", folder);
  CHECK(list.status == 0);
  CHECK(list.output == run_croquis("list inputs", folder.path()).output);
}

TEST_CASE("croquis error --by-rows: the rows of croquis error --rows to rounding, for 1, 2 and 3 ranks, and resumed") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(12);  // any numbers will do
  for (const std::string name : {"h_q.npy", "h_k.npy", "h_v.npy"}) {
    croquis::write_npy((folder / name).string(), arma::mat(301, 6, arma::fill::randn));
  }
  const std::string command =
      "error --q h_q.npy --k h_k.npy --v h_v.npy --rows 40 --features 8,24 --trials 2 --quiet "
      "--methods v-mean,linformer,skyformer,skyformer-softmax,performer ";
  REQUIRE(run_croquis(command + "--out one.csv", folder.path()).status == 0);
  const croquis::CsvTable one = croquis::read_csv((folder / "one.csv").string());
  for (const int ranks : {1, 2, 3}) {
    CAPTURE(ranks);
    const std::string name = fmt::format("r{}.csv", ranks);
    const ProgramRun run = run_ranks(ranks, command + "--by-rows --out " + name, folder);
    REQUIRE_MESSAGE(run.status == 0, run.output);
    const croquis::CsvTable rows = croquis::read_csv((folder / name).string());
    REQUIRE(rows.header == one.header);
    REQUIRE(rows.rows.size() == one.rows.size());
    for (std::size_t i = 0; i < one.rows.size(); ++i) {
      for (std::size_t c = 0; c < one.header.size(); ++c) {
        const std::string &expected = one.rows[i][c], &got = rows.rows[i][c], &column = one.header[c];
        if (column == "seconds" || column == "flops" || column == "row_sum_dev" || got == expected) continue;
        CAPTURE(column);
        CAPTURE(one.rows[i][1]);
        CHECK(std::abs(std::stod(got) - std::stod(expected)) <= 1e-9 * (1 + std::abs(std::stod(expected))));
      }
    }
  }
  const std::string whole = read_text(folder / "r3.csv");
  write_text(folder / "r3.csv", whole.substr(0, whole.size() / 2));
  const std::set<std::string> before = set_of_lines(folder / "r3.csv");
  REQUIRE(run_ranks(2, command + "--by-rows --out r3.csv --resume", folder).status == 0);
  const std::set<std::string> after = set_of_lines(folder / "r3.csv");
  CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
  CHECK(after.size() == set_of_lines(folder / "one.csv").size());
}

TEST_CASE("croquis error --by-rows: --resume with other --rows is refused, as rows of a group are about one sample") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(14);
  croquis::write_npy((folder / "h.npy").string(), arma::mat(90, 4, arma::fill::randn));
  const std::string command = "error --by-rows --q h.npy --k h.npy --v h.npy --methods performer --features 8 --quiet ";
  REQUIRE(run_croquis(command + "--rows 20 --trials 2", folder.path()).status == 0);
  const std::string before = read_text(folder / "error.csv");
  check_refused(run_croquis(command + "--rows 40 --trials 3 --resume", folder.path()),
                "--resume: --rows was 20 and is 40 now");
  CHECK(read_text(folder / "error.csv") == before);
  REQUIRE(run_croquis(command + "--rows 20 --trials 3 --resume", folder.path()).status == 0);
  CHECK(column_of(folder / "error.csv", "rows") == std::vector<std::string>(3, "20"));
}

TEST_CASE("croquis error --by-rows: a range of features ends at n, as without it; what is no size is said first") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(15);
  croquis::write_npy((folder / "h.npy").string(), arma::mat(47, 4, arma::fill::randn));
  const std::string command = "error --q h.npy --k h.npy --v h.npy --rows 20 --methods v-mean,skyformer --quiet ";
  REQUIRE(run_croquis(command + "--trials 1 --out one.csv", folder.path()).status == 0);
  const ProgramRun run = run_croquis(command + "--trials 1 --by-rows --out rows.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const std::vector<std::string> features = {"16", "32", "47", "16", "32", "47"};
  CHECK(column_of(folder / "one.csv", "features") == features);
  CHECK(column_of(folder / "rows.csv", "features") == features);
  check_refused(run_croquis("error --by-rows --q none.npy --k none.npy --v none.npy --rows 20 --methods v-mean "
                            "--features 8:x",
                            folder.path()),
                "--features");
}

TEST_CASE(
    "croquis error --save-output: rank 0 alone looks whether the folder is empty; others may have saved by then") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(16);
  const arma::mat numbers(30, 4, arma::fill::randn);
  // Rank 1 is in a folder of its own, where a file is already: what a slow rank finds in the folder of both.
  for (const char* place : {"zero", "one"}) {
    std::filesystem::create_directories(folder / place / "outs");
    croquis::write_npy((folder / place / "h.npy").string(), numbers);
  }
  write_text(folder / "one" / "outs" / "saved.npy", "by rank 0");
  const std::string command =
      "$CROQUIS error --q h.npy --k h.npy --v h.npy --methods performer --features 8 --trials 4 --save-output outs "
      "--quiet ";
  const std::string started = "mpirun --oversubscribe -n 1 --wdir {} " + command + ": -n 1 --wdir {} " + command;
  const ProgramRun run = run_command(fmt::format(fmt::runtime(started), "zero", "one"), folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(column_of(folder / "zero" / "error.csv", "status") == std::vector<std::string>(4, "ok"));
  // Where rank 0 finds a file, all ranks end.
  const ProgramRun refused = run_command(fmt::format(fmt::runtime(started), "one", "zero"), folder.path());
  CHECK(refused.status == 2);
  CHECK_MESSAGE(refused.output.find("croquis: --save-output: outs: has files already") != std::string::npos,
                refused.output);
  CHECK_FALSE(std::filesystem::exists(folder / "one" / "error.csv"));
}

TEST_CASE("croquis choose: takes no ranks, also by the loss, and leaves the choice that is there as it is") {
  TemporaryFolder folder;
  const FormulaModel model = formula_model("bert");
  write_text(folder / "model.safetensors", model.file());
  write_text(folder / "config.json", model.config);
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < 6 * 9; ++i) ids.push_back((7 * i + i * i / 5) % 11);
  write_text(folder / "ids.npy", npy_integers("(6, 9)", ids));
  for (const std::string question : {"--labels ids.npy --target-loss 9 --search-sequences 3", "--layer all --eps 5"}) {
    CAPTURE(question);
    const std::string command =
        "choose --model model.safetensors --ids ids.npy --methods v-mean --features 2 --max-cost 100 --quiet "
        "--overwrite --out c.csv " +
        question;
    const ProgramRun alone = run_croquis(command, folder.path());
    REQUIRE_MESSAGE(alone.status == 0, alone.output);
    const auto files = [&] {
      std::map<std::string, std::string> texts;
      for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        texts[entry.path().filename().string()] = read_text(entry.path());
      }
      return texts;
    };
    const std::map<std::string, std::string> before = files();
    CHECK(before.contains("c.json"));
    const ProgramRun run = run_ranks(2, command, folder);
    CHECK(run.status == 2);
    CHECK_MESSAGE(run.output.find("croquis choose: is one process with --threads") != std::string::npos, run.output);
    CHECK(files() == before);
  }
}

TEST_CASE("croquis verify --explain: several ranks say it once") {
  TemporaryFolder folder;
  const std::string command = "verify --quick --explain nys.lemma2/all-points";
  const ProgramRun one = run_croquis(command, folder.path()), two = run_ranks(2, command, folder);
  CHECK(one.status == 0);
  CHECK(two.status == 0);
  CHECK(two.output == one.output);
}

TEST_CASE("croquis error --by-rows: ends with the tables, the files and the plot, with --quiet with the plot alone") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(13);
  croquis::write_npy((folder / "h.npy").string(), arma::mat(60, 4, arma::fill::randn));
  const std::string command =
      "error --by-rows --q h.npy --k h.npy --v h.npy --rows 20 --methods skyformer,performer --features 8 --trials 2 ";
  const ProgramRun run = run_croquis(command + "--out e.csv --plot e.svg", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  for (const char* part : {"relative spectral error of the output", "rows     e.csv", "summary  e.summary.csv",
                           "meta     e.meta.json", "plot     e.svg"}) {
    CHECK_MESSAGE(run.output.find(part) != std::string::npos, run.output);
  }
  CHECK(read_text(folder / "e.svg").find("<svg") != std::string::npos);
  const ProgramRun quiet = run_ranks(2, command + "--out q.csv --plot q.svg --quiet", folder);
  CHECK(quiet.status == 0);
  CHECK_MESSAGE(quiet.output.empty(), quiet.output);
  CHECK(read_text(folder / "q.svg").find("<svg") != std::string::npos);
}

TEST_CASE("croquis error --by-rows: what does not go with it is one line and status 2") {
  TemporaryFolder folder;
  arma::mat bad(50, 4, arma::fill::ones);
  croquis::write_npy((folder / "q.npy").string(), bad);
  croquis::write_npy((folder / "k.npy").string(), bad);
  bad(33, 1) = arma::datum::nan;
  croquis::write_npy((folder / "v.npy").string(), bad);
  const std::string files = "--q q.npy --k k.npy --v q.npy ", methods = "--methods v-mean --features 8 ";
  struct Case {
    std::string arguments, says;
  };
  for (const Case& c : {Case{methods + "--rows 20", "--q"}, Case{files + methods, "--rows"},
                        Case{files + methods + "--rows 19", "--rows"}, Case{files + methods + "--rows 51", "--rows"},
                        Case{files + "--rows 20", "--methods"},
                        Case{files + "--rows 20 --methods informer --features 8", "not divided by rows"},
                        Case{files + "--rows 20 --methods v-mean --features 64", "at most n"},
                        Case{files + methods + "--rows 20 --shard 1/2", "--shard"},
                        Case{files + methods + "--rows 20 --precision float", "double"},
                        Case{files + methods + "--rows 20 --causal", "--causal"},
                        Case{"--q q.npy --k k.npy --v v.npy " + methods + "--rows 20", "v.npy: NaN or Inf in row 33"},
                        Case{"--q q.npy --k k.npy --v none.npy " + methods + "--rows 20", "none.npy"}}) {
    CAPTURE(c.arguments);
    check_refused(run_croquis("error --by-rows " + c.arguments, folder.path()), c.says);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "error.csv"));
}

TEST_CASE("croquis error --by-rows: a draw that cannot be made is a failed row, as without it") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(17);
  croquis::write_npy((folder / "h.npy").string(), arma::mat(60, 4, arma::fill::randn));
  const std::string command =
      "error --q h.npy --k h.npy --v h.npy --rows 20 --methods performer:map=trf --features 3,4 --trials 1 --quiet ";
  REQUIRE(run_croquis(command + "--out one.csv", folder.path()).status == 0);
  const std::vector<std::string> status = column_of(folder / "one.csv", "status");
  REQUIRE(status.size() == 2);
  CHECK(status[0] != "ok");
  CHECK(status[1] == "ok");
  for (const int ranks : {1, 2}) {
    CAPTURE(ranks);
    const ProgramRun run = run_ranks(ranks, command + fmt::format("--by-rows --out r{}.csv", ranks), folder);
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK(column_of(folder / fmt::format("r{}.csv", ranks), "status") == status);
  }
}

TEST_CASE("croquis on several ranks: one with another input or other options ends all of them before a row is made") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(18);
  const arma::mat numbers(30, 4, arma::fill::randn);
  for (const char* place : {"zero", "one"}) {
    std::filesystem::create_directories(folder / place);
    croquis::write_npy((folder / place / "h.npy").string(), numbers);
    croquis::write_npy((folder / place / "v.npy").string(), numbers);
  }
  const std::string command = "$CROQUIS error --q h.npy --k h.npy --v v.npy --methods performer --features 8 --quiet ";
  const std::string started =
      "mpirun --oversubscribe -n 1 --wdir zero " + command + "--trials 4 : -n 1 --wdir one " + command;
  const auto check_ended = [&](const std::string& other) {
    CAPTURE(other);
    const ProgramRun run = run_command(started + other, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(run.output.find("croquis: rank 1 has another input or other options than rank 0") == 0, run.output);
    CHECK_FALSE(std::filesystem::exists(folder / "zero" / "error.csv"));
  };
  check_ended("--trials 4 --seed 2");
  check_ended("--trials 4 --row-errors");
  check_ended("--trials 5");
  croquis::write_npy((folder / "one" / "v.npy").string(), arma::mat(2 * numbers));
  check_ended("--trials 4");
  croquis::write_npy((folder / "one" / "v.npy").string(), numbers);
  const ProgramRun run = run_command(started + "--trials 4", folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
}
