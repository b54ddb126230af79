// croquis error on every kind of input, from the outside.
#include <doctest/doctest.h>

#include <cmath>
#include <croquis/attention/method.hpp>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/program.hpp"

TEST_CASE("croquis error: all methods on every input, a row each that is ok") {
  TemporaryFolder folder;
  for (const std::string input :
       {"text", "gaussian --norm 100", "sphere", "clustered --spread 0", "heavy-norms --tail 1",
        "low-rank --token-rank 2", "duplicates --distinct 5", "text --length 51"}) {
    const ProgramRun run = run_croquis(
        "error --n 60 --p 8 --features 8,30,51 --trials 2 --overwrite --quiet --out e.csv "
        "--input " +
            input,
        folder.path());
    CAPTURE(input);
    CHECK_MESSAGE(run.status == 0, run.output);
    const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
    std::map<std::string, int> count;
    for (const auto& row : table.rows) {
      ++count[row[table.column("method")]];
      const std::string& status = row[table.column("status")];
      CAPTURE(row[table.column("method")]);
      CHECK(status.size() > 1);
      CHECK((status == "ok") == (row[table.column("spectral_abs")] != "NA"));
      if (status == "ok") CHECK(std::isfinite(std::stod(row[table.column("spectral_abs")])));
    }
    CHECK(count.size() == croquis::methods<double>().size());
  }
}

TEST_CASE("croquis error: the name of a synthetic input has as many digits as tell it from others") {
  TemporaryFolder folder;
  for (const auto& [options, name] :
       {std::pair("gaussian --norm 2.5", "gaussian:2.5"), std::pair("gaussian --norm 2.5000001", "gaussian:2.5000001"),
        std::pair("gaussian --norm 1000000", "gaussian:1e+06"),
        std::pair("gaussian --norm 1000001", "gaussian:1000001"),
        std::pair("gaussian", "gaussian:2.82843"),  // the root of p
        std::pair("heavy-norms --tail 1.23456789", "heavy-norms:2.82843;tail=1.23456789"),
        std::pair("clustered --clusters 2 --spread 0.1", "clustered:2.82843;clusters=2;spread=0.1"),
        std::pair("clustered --spread 0.12345678", "clustered:2.82843;clusters=16;spread=0.12345678"),
        std::pair("low-rank --token-rank 2", "low-rank:2.82843;rank=2"),
        std::pair("duplicates --distinct 5", "duplicates:2.82843;distinct=5")}) {
    const ProgramRun run = run_croquis(
        std::string("error --n 12 --p 8 --methods v-mean --features 2 --overwrite --quiet --out e.csv --input ") +
            options,
        folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
    CHECK(table.rows.at(0).at(table.column("input")) == name);
  }
}

TEST_CASE("--resume: rows of arrays or a bias with other numbers under the same names are not gone on with") {
  TemporaryFolder folder;
  const std::vector<std::string> files = {"q.npy", "k.npy", "v.npy", "bias.npy"};
  const auto write = [&](const std::string& file, double number) {
    const bool bias = file == "bias.npy";
    croquis::write_npy((folder / file).string(), arma::mat(bias ? 23 : 12, bias ? 1 : 4, arma::fill::value(number)));
  };
  for (const std::string& file : files) write(file, 1);
  const std::string run =
      "error --q q.npy --k k.npy --v v.npy --bias bias.npy --methods nprf-rpe --trials 1 --features 2 --quiet";
  REQUIRE(run_croquis(run, folder.path()).status == 0);
  CHECK(run_croquis(run + " --resume", folder.path()).status == 0);
  CHECK(read_text(folder / "error.csv").find("\narrays:q;bias=bias,") != std::string::npos);
  for (const std::string& file : files) {
    CAPTURE(file);
    write(file, 0.5);
    const ProgramRun other = run_croquis(run + " --resume", folder.path());
    CHECK(other.status == 2);
    CHECK_MESSAGE(other.output.starts_with("croquis: --resume: numbers of Q, K, V was "), other.output);
    write(file, 1);
  }
}

TEST_CASE("croquis error: --length is at most the tokens, which are padded behind it") {
  TemporaryFolder folder;
  const std::string run = "error --input gaussian --n 12 --p 4 --methods v-mean --features 2 --quiet --out e.csv";
  CHECK(run_croquis(run + " --length 12", folder.path()).status == 0);
  CHECK(run_croquis(run + " --length 13 --overwrite", folder.path()).output ==
        "croquis: --length: 13 is more than the 12 tokens\n");
}

TEST_CASE("--text: a file with a zero byte is no text, with or without a vocabulary") {
  TemporaryFolder folder;
  write_text(folder / "program", std::string("Sketches of attention\0.", 23));
  write_text(folder / "vocab.txt", "[UNK]\nof\n");
  for (const char* vocabulary : {"", " --vocab vocab.txt"}) {
    const ProgramRun run =
        run_croquis(std::string("error --n 2 --p 4 --features 2 --text program") + vocabulary, folder.path());
    CHECK(run.status == 2);
    CHECK(run.output == "croquis: --text: program: byte 21 (from 0) is zero; zero bytes are not read, remove them\n");
  }
}

TEST_CASE("--text in another encoding is refused with the first byte that is not UTF-8") {
  TemporaryFolder folder;
  write_text(folder / "latin1.txt", "caf\xe9 of attention.");
  const ProgramRun run = run_croquis("error --n 2 --p 4 --features 2 --text latin1.txt", folder.path());
  CHECK(run.status == 2);
  CHECK(run.output.find("croquis: --text: latin1.txt: byte 3 (from 0) is not UTF-8; iconv") == 0);
  write_text(folder / "utf8.txt", "caf\xc3\xa9 of attention.");
  CHECK(run_croquis("error --n 2 --p 4 --methods v-mean --features 2 --text utf8.txt --quiet", folder.path()).status ==
        0);
}

TEST_CASE(
    "croquis error: the input's name says that a token type is added, and rows of another --rows are not resumed") {
  TemporaryFolder folder;
  const std::string small = "error --n 64 --p 4 --methods v-mean --features 4 --quiet --out r.csv ";
  REQUIRE(run_croquis(small + "--rows 32", folder.path()).status == 0);
  CHECK(read_text(folder / "r.csv").find("\ntext:sample,") != std::string::npos);
  const ProgramRun other = run_croquis(small + "--rows 48 --resume", folder.path());
  CHECK(other.status == 2);
  CHECK(other.output.find("--rows") != std::string::npos);
  REQUIRE(run_croquis(small + "--token-type --overwrite", folder.path()).status == 0);
  CHECK(read_text(folder / "r.csv").find("\ntext:sample;token-type,") != std::string::npos);
}
