// croquis error, from the outside.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "support/capture.hpp"
#include "support/process.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

const std::string kSmallError = "error --n 96 --p 16 --features 8:32 --trials 3 --quiet ";

void write_arrays(const TemporaryFolder& folder, const arma::mat& q, const arma::mat& k, const arma::mat& v) {
  croquis::write_npy((folder / "q.npy").string(), q);
  croquis::write_npy((folder / "k.npy").string(), k);
  croquis::write_npy((folder / "v.npy").string(), v);
}

}  // namespace

TEST_CASE("croquis error: rows, summary, meta file and plot are written, a row a method, d and trial") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "error --n 96 --p 16 --features 8:32 --trials 3 --out e.csv --plot e.svg --methods v-mean,best-rank-d,"
      "skyformer,skyformer-softmax,nystromformer,linformer-unreduced,skeinformer",
      folder.path());
  CHECK(run.status == 0);
  CHECK(run.output.find("skyformer-softmax") != std::string::npos);
  const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
  const std::vector<std::string> columns = {
      "input",        "method",        "preset",        "target",  "n",           "p",
      "p_v",          "features",      "trial",         "seed",    "precision",   "spectral_abs",
      "spectral_rel", "frobenius_abs", "frobenius_rel", "max_abs", "row_sum_dev", "min_denominator",
      "seconds",      "flops",         "status",        "layer",   "head",        "n_q"};
  CHECK(table.header == columns);
  std::map<std::string, int> count;
  for (const auto& row : table.rows) {
    ++count[row[table.column("method")]];
    CHECK(row[table.column("status")] == "ok");
    CHECK(row[table.column("n")] == "96");
    CHECK(std::isfinite(std::stod(row[table.column("spectral_rel")])));
  }
  const std::map<std::string, int> expected = {
      {"v-mean", 3},      {"best-rank-d", 3},        {"skyformer", 9}, {"nystromformer", 3}, {"skyformer-softmax", 9},
      {"skeinformer", 9}, {"linformer-unreduced", 9}};
  CHECK(count == expected);
  CHECK(read_text(folder / "e.svg").find("<svg") != std::string::npos);
  CHECK(read_text(folder / "e.meta.json").find("\"seed\": 1") != std::string::npos);
  const croquis::CsvTable summary = croquis::read_csv((folder / "e.summary.csv").string());
  CHECK(summary.rows.size() == 7 * 3 * 5);
  CHECK(run_croquis("plot e.csv --out again.png --metric frobenius_abs", folder.path()).status == 0);
  CHECK(read_text(folder / "again.png").substr(1, 3) == "PNG");
}

TEST_CASE("croquis error: the summary's mean and standard error are those of the rows") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallError + "--methods skeinformer --out e.csv", folder.path()).status == 0);
  const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
  double values[3] = {};
  for (int i = 0; i < 3; ++i) {
    values[i] = std::stod(table.rows[static_cast<std::size_t>(i)][table.column("max_abs")]);
  }
  const double mean = (values[0] + values[1] + values[2]) / 3;
  double squares = 0;
  for (const double x : values) squares += (x - mean) * (x - mean);
  const croquis::CsvTable summary = croquis::read_csv((folder / "e.summary.csv").string());
  const auto& row = summary.rows[4];  // d = 8, the fifth metric
  REQUIRE(row[summary.column("metric")] == "max_abs");
  CHECK(std::stod(row[summary.column("mean")]) == doctest::Approx(mean).epsilon(1e-14));
  CHECK(std::stod(row[summary.column("standard_error")]) == doctest::Approx(std::sqrt(squares / 2 / 3)).epsilon(1e-12));
}

TEST_CASE("croquis error: the same seed gives the same rows for 1, 2 and 4 threads, another seed other rows") {
  TemporaryFolder folder;
  for (const std::string threads : {"1", "2", "4"}) {
    REQUIRE(run_croquis(
                "error --n 300 --features 16,40 --trials 4 --quiet --threads " + threads + " --out " + threads + ".csv",
                folder.path())
                .status == 0);
  }
  CHECK(rows_of(folder / "1.csv") == rows_of(folder / "2.csv"));
  CHECK(rows_of(folder / "1.csv") == rows_of(folder / "4.csv"));
  REQUIRE(run_croquis(kSmallError + "--out a.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(kSmallError + "--seed 2 --out b.csv", folder.path()).status == 0);
  CHECK(rows_of(folder / "a.csv") != rows_of(folder / "b.csv"));
}

TEST_CASE("croquis error: an interrupted result resumes to the rows of an uninterrupted one, a torn line dropped") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallError + "--out whole.csv", folder.path()).status == 0);
  const std::string whole = read_text(folder / "whole.csv");
  for (const double part : {0.05, 0.4, 0.73, 1.0}) {
    const auto cut = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
    write_text(folder / "part.csv", whole.substr(0, cut));
    write_text(folder / "part.meta.json", read_text(folder / "whole.meta.json"));
    const ProgramRun run = run_croquis(kSmallError + "--out part.csv --resume", folder.path());
    CHECK_MESSAGE(run.status == 0, run.output);
    CHECK(rows_of(folder / "part.csv") == rows_of(folder / "whole.csv"));
  }
  const ProgramRun other_seed = run_croquis(kSmallError + "--seed 5 --out part.csv --resume", folder.path());
  CHECK(other_seed.status == 2);
  CHECK(other_seed.output.find("--seed was 1 and is 5") != std::string::npos);
}

TEST_CASE("croquis error: a result that is there is not overwritten unasked") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallError + "--out e.csv", folder.path()).status == 0);
  const std::string before = read_text(folder / "e.csv");
  CHECK(run_croquis(kSmallError + "--out e.csv", folder.path()).status == 2);
  CHECK(read_text(folder / "e.csv") == before);
  CHECK(run_croquis(kSmallError + "--out e.csv --overwrite", folder.path()).status == 0);
  write_text(folder / "mine.csv", "a,b\n1,2\nno line break at the end");
  CHECK(run_croquis(kSmallError + "--out mine.csv --resume", folder.path()).status == 2);
  CHECK(read_text(folder / "mine.csv") == "a,b\n1,2\nno line break at the end");
}

TEST_CASE("croquis error: the saved configuration makes the same rows again") {
  TemporaryFolder folder;
  REQUIRE(
      run_croquis(kSmallError + "--methods skyformer:preset=code,ridge=0.2,v-mean --out a.csv", folder.path()).status ==
      0);
  const auto meta = nlohmann::json::parse(read_text(folder / "a.meta.json"));
  write_text(folder / "a.ini", meta["configuration"].get<std::string>());
  const ProgramRun run = run_croquis("error --config a.ini --out b.csv", folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
  CHECK(rows_of(folder / "a.csv") == rows_of(folder / "b.csv"));
}

TEST_CASE("the saved configuration replaces no result, and goes on with none, unless that is asked for") {
  const TemporaryFolder folder;
  for (const char* how : {"--overwrite", "--resume"}) {
    REQUIRE(run_croquis(kSmallError + "--out a.csv " + how, folder.path()).status == 0);
    const auto meta = nlohmann::json::parse(read_text(folder / "a.meta.json"));
    const auto configuration = meta["configuration"].get<std::string>();
    for (const char* name : {"overwrite", "resume", "quiet"}) {
      CHECK_MESSAGE(!contains(configuration, std::string("\n") + name), configuration);
    }
    write_text(folder / "a.ini", configuration);
    const std::string before = read_text(folder / "a.csv");
    const ProgramRun again = run_croquis("error --config a.ini", folder.path());
    CHECK(again.status == 2);
    CHECK_MESSAGE(contains(again.output, "a.csv: is there already"), again.output);
    CHECK(read_text(folder / "a.csv") == before);
  }
}

TEST_CASE("the saved configuration has every name of a file as it is, and --config reads it back") {
  const TemporaryFolder folder;
  const std::vector<std::string> names = {"a#b",   "#x",     "it's \"q\"",  "a\"b",     "a'b",  "a\nb", "a\tb",
                                          "a\\b",  "\\x41",  "b\\x41 \" '", "a, b [c]", "[x]",  "a=b",  "; c",
                                          " lead", "trail ", "\xc3\xa9",    "1e5",      "true", "\"",   "'",
                                          "\\",    "x\\\"",  "\"q\"",       "\xff\xfe", "\x7f"};
  for (const std::string& name : names) {
    CAPTURE(name);
    write_text(folder.path() / name, "a b c d e f g h i j k l m n o p\n");
    const ProgramRun first = run_process({"error", "--text", name, "--n", "12", "--p", "4", "--methods", "v-mean",
                                          "--features", "4", "--quiet", "--overwrite", "--out", "r.csv"},
                                         folder.path());
    REQUIRE_MESSAGE(first.status == 0, first.output);
    const auto meta = nlohmann::json::parse(read_text(folder / "r.meta.json"));
    write_text(folder / "r.ini", meta["configuration"].get<std::string>());
    const ProgramRun again =
        run_process({"error", "--config", "r.ini", "--quiet", "--overwrite", "--out", "s.csv"}, folder.path());
    REQUIRE_MESSAGE(again.status == 0, again.output);
    CHECK(rows_of(folder / "s.csv") == rows_of(folder / "r.csv"));
    CHECK(nlohmann::json::parse(read_text(folder / "s.meta.json"))["identity"] == meta["identity"]);
  }
}

TEST_CASE("--config: quotes, what is special in them, and comments") {
  const TemporaryFolder folder;
  for (const char* name : {"a#b.txt", "back\\slash.txt", "say \"x\".txt"}) {
    write_text(folder.path() / name, "a b c d e f g h i j k l m n o p\n");
  }
  for (const char* line : {"text=\"a#b.txt\"", "text = 'a#b.txt'  # a comment", "text=\"a\\x23b.txt\"# comment",
                           "text=\"back\\slash.txt\"", "text=\"back\\\\slash.txt\"", "text='back\\slash.txt'",
                           "text='say \"x\".txt'", "text=\"say \\\"x\\\".txt\""}) {
    CAPTURE(line);
    write_text(folder / "c.ini", std::string("[error]\nn=12 # tokens\np=4\nfeatures=\"4,8\"\n") + line + "\n");
    const ProgramRun run =
        run_croquis("error --config c.ini --methods v-mean,linformer --trials 1 --quiet --overwrite", folder.path());
    CHECK_MESSAGE(run.status == 0, run.output);
    CHECK(rows_of(folder / "error.csv").size() == 2 * 2);
  }
}

TEST_CASE("the saved configuration makes the same rows again where files or a default say what the input is") {
  const TemporaryFolder folder;
  arma::arma_rng::set_seed(3);  // any numbers will do
  const arma::mat x(20, 4, arma::fill::randn);
  write_arrays(folder, x, x, x);
  const std::string arrays = "--q q.npy --k k.npy --v v.npy ",
                    few = "--methods v-mean,nystromformer --features 4 --trials 2 ";
  const std::vector<std::string> commands = {"error " + arrays + few,
                                             "gradient " + arrays + few,
                                             "choose " + arrays + few,
                                             "spectrum " + arrays,
                                             "spectrum --matrix q.npy",
                                             "sketch --matrix q.npy --sketches gaussian --trials 2 --features 4",
                                             "dimension --n 32 --trials 2",
                                             "variance --q q.npy --k k.npy --features 4 --trials 2",
                                             "variance --p 4 --keys 8 --norms 1 --features 4 --trials 2",
                                             "verify --claims nys.lemma1 --quick",
                                             "verify --claims nys.lemma1 --quick " + arrays};
  for (const std::string& command : commands) {
    CAPTURE(command);
    const ProgramRun first = run_croquis(command + " --quiet --overwrite --out a.csv", folder.path());
    REQUIRE_MESSAGE(first.status == 0, first.output);
    const auto meta = nlohmann::json::parse(read_text(folder / "a.meta.json"));
    write_text(folder / "a.ini", meta["configuration"].get<std::string>());
    const std::string name = command.substr(0, command.find(' '));
    const ProgramRun again = run_croquis(name + " --config a.ini --overwrite --out b.csv", folder.path());
    CHECK_MESSAGE(again.status == 0, again.output);
    CHECK(rows_of(folder / "a.csv") == rows_of(folder / "b.csv"));
  }
}

TEST_CASE("croquis error: padding gives the rows of the shorter input") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(7);  // any numbers will do
  arma::mat q(60, 8, arma::fill::randn), k(60, 8, arma::fill::randn), v(60, 5, arma::fill::randn);
  write_arrays(folder, q, k, v);
  const std::string arrays = "error --q q.npy --k k.npy --v v.npy --features 8,20 --trials 2 --quiet ";
  REQUIRE(run_croquis(arrays + "--length 41 --out padded.csv", folder.path()).status == 0);
  write_arrays(folder, q.head_rows(41), k.head_rows(41), v.head_rows(41));
  REQUIRE(run_croquis(arrays + "--out short.csv", folder.path()).status == 0);
  CHECK(rows_of(folder / "padded.csv") == rows_of(folder / "short.csv"));
}

TEST_CASE("croquis error: duplicated tokens, zero rows and large norms give finite rows or a status") {
  TemporaryFolder folder;
  arma::arma_rng::set_seed(8);
  arma::mat q(50, 8, arma::fill::randn), k(50, 8, arma::fill::randn), v(50, 4, arma::fill::randn);
  q.rows(10, 30).zeros();
  k.rows(0, 20) = arma::repmat(k.row(40), 21, 1);
  for (const double norm : {1.0, 100.0, 1e4}) {
    write_arrays(folder, norm * q, norm * k, v);
    for (const std::string precision : {"float", "double"}) {
      const ProgramRun run = run_croquis(
          "error --q q.npy --k k.npy --v v.npy --features 7,50 --trials 3 --overwrite "
          "--quiet --out e.csv --precision " +
              precision,
          folder.path());
      CHECK_MESSAGE(run.status == 0, run.output);
      const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
      for (const auto& row : table.rows) {
        const bool ok = row[table.column("status")] == "ok";
        CHECK(ok == (row[table.column("spectral_abs")] != "NA"));
        if (ok) CHECK(std::isfinite(std::stod(row[table.column("spectral_abs")])));
      }
    }
  }
}

TEST_CASE("croquis: wrong usage and wrong input give one line that says what would do, and exit status 2") {
  TemporaryFolder folder;
  arma::mat good(12, 4, arma::fill::ones), nan = good;
  nan(3, 2) = arma::datum::nan;
  croquis::write_npy((folder / "good.npy").string(), good);
  croquis::write_npy((folder / "nan.npy").string(), nan);
  croquis::write_npy((folder / "short.npy").string(), good.head_rows(11));
  croquis::write_npy((folder / "wide.npy").string(), arma::mat(12, 5, arma::fill::ones));
  write_text(folder / "text.npy", "not an array");
  write_text(folder / "text.txt", "too few words");
  write_text(folder / "rows.csv", "a,b\n1,2\n");
  struct Case {
    std::string arguments, says;
  };
  const Case cases[] = {
      {"", "give a command"},
      {"frobnicate", "frobnicate"},
      {"error --frobnicate", "--frobnicate"},
      {"error --n 10 --features 16", "at most n"},
      {"error --n 0", "--n"},
      {"error --n -5", "--n"},
      {"error --n ten", "--n"},
      {"error --p 0", "--p"},
      {"error --n 100000000", "--text"},
      {"error --features 16:8", "downwards"},
      {"error --features 0", "--features"},
      {"error --features 16,,32", "empty"},
      {"error --features x", "--features"},
      {"error --features 99999999999999999999", "--features"},
      {"error --trials 0", "--trials"},
      {"error --trials x", "--trials"},
      {"error --seed -1", "--seed"},
      {"error --threads -2", "--threads"},
      {"error --precision half", "--precision"},
      {"spectrum --n 32 --precision float", "--precision: 'float': this command computes in double"},
      {"error --methods nothing", "v-mean"},
      {"error --methods skyformer,skyformer", "twice"},
      {"error --methods skyformer:ridge", "NAME=VALUE"},
      {"error --methods skyformer:ridge=-1", "ridge"},
      {"error --methods skyformer:ridge=nan", "ridge"},
      {"error --methods skyformer:iterations=1.5", "whole"},
      {"error --methods skyformer:preset=mine", "paper code"},
      {"error --methods v-mean:preset=code", "no options"},
      {"error --methods nystromformer:ridge=1", "inverse iterations"},
      {"error --methods ridge=1", "before any name"},
      {"error --input nowhere", "--input"},
      {"error --input arrays", "--q"},
      {"error --q good.npy", "--k"},
      {"error --q good.npy --k good.npy --v missing.npy", "missing.npy: cannot be opened"},
      {"error --q text.npy --k good.npy --v good.npy", "text.npy"},
      {"error --q nan.npy --k good.npy --v good.npy --features 4", "nan.npy: row 3, column 2 (from 0) is NaN"},
      {"error --q good.npy --k good.npy --v nan.npy --features 4", "nan.npy: row 3, column 2 (from 0) is NaN"},
      {"error --q good.npy --k short.npy --v good.npy",
       "K and V need as many rows as each other; Q is (12, 4), K (11, 4), V (12, 4)"},
      {"error --q good.npy --k wide.npy --v good.npy",
       "Q and K need the same width; Q is (12, 4), K (12, 5), V (12, 4)"},
      {"error --q good.npy --k good.npy --v short.npy",
       "K and V need as many rows as each other; Q is (12, 4), K (12, 4), V (11, 4)"},
      {"error --q good.npy --k good.npy --v good.npy --n 12", "--n"},
      {"error --q good.npy --k good.npy --v good.npy --length 13", "--length"},
      {"error --q good.npy --k good.npy --v good.npy --length 0", "--length"},
      {"error --text text.txt", "3 tokens"},
      {"error --text missing.txt", "missing.txt"},
      {"error --text .", "folder"},
      {"error --norm 3", "--input gaussian"},
      {"error --input gaussian --norm -1 --n 300", "norm"},
      {"error --input gaussian --norm nan --n 300", "norm"},
      {"error --input gaussian --text text.txt", "--input text"},
      {"error --input sphere --clusters 3", "--input clustered"},
      {"error --input clustered --clusters 0", "--clusters"},
      {"error --input clustered --spread -1 --n 300", "spread"},
      {"error --input heavy-norms --tail 0 --n 300", "tail"},
      {"error --input low-rank --token-rank 0 --n 300", "--token-rank"},
      {"error --input duplicates --distinct x", "--distinct"},
      {"error --plot e.bmp", ".svg"},
      {"error --plot nowhere/e.svg", "nowhere"},
      {"error --out nowhere/e.csv", "nowhere/e.csv"},
      {"error --out . ", "cannot be written"},
      {"error --resume --overwrite", "exclude"},
      {"error --config missing.ini", "missing.ini"},
      {"list", "what"},
      {"list nothing", "nothing"},
      {"plot", "give a CSV of another command"},
      {"plot missing.csv", "missing.csv"},
      {"plot rows.csv", "columns are a, b"},
      {"plot rows.csv --metric nothing", "columns are a, b"},
  };
  for (const Case& c : cases) {
    const ProgramRun run = run_croquis(c.arguments, folder.path());
    CAPTURE(c.arguments);
    CAPTURE(run.output);
    CHECK(run.status == 2);
    CHECK(run.output.find(c.says) != std::string::npos);
    CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "error.csv"));
}

TEST_CASE("croquis error --bounds: four columns beside the measured errors, a line of the picture, not with --rows") {
  TemporaryFolder folder;
  const std::string command =
      "error --methods linformer-unreduced,v-mean --n 64 --features 8,16 --trials 3 --quiet --overwrite ";
  REQUIRE(run_croquis(command + "--out plain.csv", folder.path()).status == 0);
  const ProgramRun run = run_croquis(command + "--bounds --plot error.svg", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const croquis::CsvTable plain = croquis::read_csv((folder / "plain.csv").string()),
                          table = croquis::read_csv((folder / "error.csv").string());
  CHECK(table.header.size() == plain.header.size() + 4);
  for (const auto& row : table.rows) {
    const bool has = row[table.column("method")] == "linformer-unreduced";
    CHECK((row[table.column("bound_abs")] != "NA") == has);
    CHECK(row[table.column("bound_source")] == (has ? "linformer T1" : "NA"));
  }
  CHECK(contains(read_text(folder / "error.svg"), "guaranteed, with 90 % or more"));
  const ProgramRun refused = run_croquis(command + "--bounds --rows 10", folder.path());
  CHECK(refused.status == 2);
  CHECK(contains(refused.output, "--bounds: goes without --rows"));
}

TEST_CASE("croquis list and --version: what there is, and what it runs on") {
  TemporaryFolder folder;
  const ProgramRun list = run_croquis("list methods", folder.path());
  CHECK(list.status == 0);
  CHECK(list.output.find("nystromformer") != std::string::npos);
  CHECK(list.output.find("iterations=0 to 100") != std::string::npos);
  CHECK(run_croquis("list sketches", folder.path()).status == 0);
  CHECK(run_croquis("list inputs", folder.path()).status == 0);
  const ProgramRun version = run_croquis("--version", folder.path());
  CHECK(version.status == 0);
  CHECK(version.output.find("OpenBLAS") != std::string::npos);
}

TEST_CASE("croquis: what a bias has no effect on is refused with one, and is not among all") {
  TemporaryFolder folder;
  const std::string input = " --input gaussian --n 32 --p 4 --bias alibi:1 --quiet --overwrite --out e.csv";
  const std::pair<const char*, const char*> refused[] = {
      {"error --features 8 --methods v-mean,skeinformer", "v-mean: takes no bias; targets that take one are"},
      {"choose --features 8 --methods v-mean,skeinformer", "v-mean: takes no bias; targets that take one are"},
      {"spectrum", "spectrum: takes no --bias"},
      {"sketch --features 8", "sketch: takes no --bias"}};
  for (const auto& [line, why] : refused) {
    CAPTURE_BINDING(line);
    const ProgramRun run = run_croquis(line + input, folder.path());
    CHECK(run.status == 2);
    CHECK(contains(run.output, why));
    CHECK_FALSE(std::filesystem::exists(folder / "e.csv"));
  }
  REQUIRE(run_croquis("error --methods all --features 8 --trials 1" + input, folder.path()).status == 0);
  const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
  REQUIRE(table.rows.size() == 2);
  for (const auto& row : table.rows) CHECK(row[table.column("target")].ends_with("-rpe"));
  REQUIRE(run_croquis("choose --features 8 --trials 60 --eps 9 --max-cost 99" + input, folder.path()).status == 0);
  const croquis::CsvTable choice = croquis::read_csv((folder / "e.csv").string());
  CHECK(choice.rows.front()[choice.column("method")] == "prf-rpe");
}

TEST_CASE("croquis error: what the library refuses is said of the option that was given") {
  TemporaryFolder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"--methods skyformer:ridge=-1", "skyformer: ridge is a number from 0 to 1e+06, got ridge = -1"},
      {"--methods nystromformer:inverse=none", "nystromformer: inverse is one of"},
      {"--input gaussian --norm -1", "--input gaussian: norm >= 0, got norm = -1"},
      {"--input heavy-norms --tail 0", "--input heavy-norms: tail > 0, got tail = 0"},
      {"--input clustered --spread -1", "--input clustered: spread >= 0, got spread = -1"},
      {"--input gaussian --n 1000000000 --p 100000", "--input gaussian: needs "},
      {"--methods prf-rpe --bias t5:3,8,1", "--bias t5:3,8,1: an even number of buckets"},
      {"--methods prf-rpe --bias random:-1", "--bias random:-1: sigma >= 0, got sigma = -1"},
      {"--methods prf-rpe --bias alibi:", "--bias: 'alibi:' is none of FILE.npy, alibi:SLOPE"},
      {"--methods prf-rpe --bias alibi:nan", "--bias alibi:nan: a finite slope"}};
  for (const auto& [arguments, says] : cases) {
    CAPTURE_BINDING(arguments);
    const ProgramRun run = run_croquis(std::string("error --out none.csv ") + arguments, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(run.output.starts_with(std::string("croquis: ") + says), run.output);
  }
}
