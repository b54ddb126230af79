// croquis error on every kind of input, from the outside.
#include <doctest/doctest.h>

#include <cmath>
#include <croquis/attention/method.hpp>
#include <croquis/io/csv.hpp>
#include <map>
#include <string>

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

TEST_CASE("--text: a file with a zero byte is no text, with or without a vocabulary") {
  TemporaryFolder folder;
  write_text(folder / "program", std::string("Sketches of attention\0.", 23));
  write_text(folder / "vocab.txt", "[UNK]\nof\n");
  for (const char* vocabulary : {"", " --vocab vocab.txt"}) {
    const ProgramRun run =
        run_croquis(std::string("error --n 2 --p 4 --features 2 --text program") + vocabulary, folder.path());
    CHECK(run.status == 2);
    CHECK(run.output == "croquis: --text: program: byte 21 (from 0) is zero; a text is UTF-8\n");
  }
}
