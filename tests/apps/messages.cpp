// What the program says of bad input: the file, the place in it, the cause, and what would do, in the user's words.
#include <doctest/doctest.h>

#include <algorithm>
#include <croquis/io/npy.hpp>
#include <limits>
#include <string>
#include <vector>

#include "support/npy_files.hpp"
#include "support/process.hpp"
#include "support/text.hpp"

namespace {

const std::string kFew = " --methods v-mean --features 4 --quiet ";

void check_says(const TemporaryFolder& folder, const std::string& arguments, const std::string& reason) {
  CAPTURE(arguments);
  const ProgramRun run = run_process(words(arguments), folder.path());
  CHECK(run.status == 2);
  CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
  CHECK_MESSAGE(contains(run.output, reason), run.output);
}

}  // namespace

TEST_CASE("rows whose squares overflow are named by file, head and row; of --precision float by their input") {
  TemporaryFolder folder;
  const auto write = [&](const char* name, std::size_t place, double value) {
    std::vector<double> numbers(2 * 12 * 4, 1.0);
    numbers[place] = value;
    write_text(folder / name,
               npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 12, 4), }\n", bytes_of(numbers)));
  };
  write("large.npy", 1 * 48 + 3 * 4 + 1, 1e200);
  write("some.npy", 0, 1);
  const std::string said = "large.npy: head 1, row 3 (from 0) has norm 1e+200, and squares of more than ";
  check_says(folder, "error --q large.npy --k some.npy --v some.npy" + kFew, said);
  check_says(folder, "error --q some.npy --k large.npy --v some.npy" + kFew, said);
  check_says(folder, "error --q some.npy --k some.npy --v large.npy" + kFew, said);
  write("some_Q.npy", 5 * 4, 1e20);
  check_says(folder, "error --q some_Q.npy --k some_Q.npy --v some_Q.npy --precision float" + kFew,
             "row 5 (from 0) of Q of arrays:some;head=0 has norm 1e+20");
}

TEST_CASE("variance: a number that is not finite is named by file, row and column") {
  TemporaryFolder folder;
  arma::mat good(6, 4, arma::fill::ones), bad = good;
  bad(3, 2) = std::numeric_limits<double>::quiet_NaN();
  croquis::write_npy((folder / "good.npy").string(), good);
  croquis::write_npy((folder / "bad.npy").string(), bad);
  for (const char* files : {"--q bad.npy --k good.npy", "--q good.npy --k bad.npy"}) {
    check_says(folder, std::string("variance --features 4 ") + files,
               "bad.npy: row 3, column 2 (from 0) is NaN; every number must be finite");
  }
}

TEST_CASE("names that are too long are refused with this reason, before anything is computed") {
  TemporaryFolder folder;
  const std::string run = "error --input gaussian --n 12 --p 4" + kFew, name(300, 'a');
  check_says(folder, run + "--out " + name + ".csv", ": cannot be written: File name too long");
  check_says(folder, run + "--plot " + name + ".svg", ".svg: cannot be written: File name too long");
  // That of the rows fits, that of the summary does not.
  check_says(folder, run + "--out " + name.substr(0, 245) + ".csv",
             ".summary.csv: cannot be written: File name too long");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("an option given twice, a file that cannot be opened, a file that is no result, a value of another kind") {
  TemporaryFolder folder;
  check_says(folder, "error --out a --out b", "--out: has 2 values and takes one; give it once, and a list");
  // What takes no list is not said to.
  check_says(folder, "error --seed 1 --seed 2", "--seed: has 2 values and takes one; give it once\n");
  check_says(folder, "error --n 8 --n 9", "--n: has 2 values and takes one; give it once\n");
  check_says(folder, "error --precision float --precision float", "takes one; give it once\n");
  check_says(folder, "dimension --n 8 --n 9", "--n: has 2 values and takes one; give it once, and a list");
  write_text(folder / "c.ini", "[error]\nn=12\n");
  check_says(folder, "error --config c.ini --config c.ini", "--config: has 2 values and takes one; give it once\n");
  check_says(folder, "error --seed", "--seed: has no value; croquis error --help shows what it takes");
  check_says(folder, "model --trials 0", "croquis model --help shows what there is");
  check_says(folder, "error --text none.txt", "--text: none.txt: cannot be opened: No such file or directory");
  croquis::write_npy((folder / "q.npy").string(), arma::mat(30, 4, arma::fill::ones));
  for (const char* command : {"show q.npy", "plot q.npy", "report q.npy", "merge all.csv q.npy"}) {
    check_says(folder, command, "q.npy: is not a result of croquis, which begins with the names of columns");
  }
  write_text(folder / "e.csv", "\xEF\xBB\xBFinput,method\n");
  check_says(folder, "show e.csv", "e.csv: begins with a byte order mark, as Excel's 'CSV UTF-8' does; save it as CSV");
  check_says(folder, "error --causal=maybe",
             "croquis: --causal: 'maybe' is neither true nor false; croquis error --help");
  check_says(folder, "choose --eps small", "croquis: --eps: 'small' is not a number\n");
  write_text(folder / "c.ini", "[error]\ncausal=maybe\n");
  check_says(folder, "--config c.ini error",
             "croquis: --causal: 'maybe' is neither true nor false; croquis error --help");
  write_text(folder / "expected.txt", "nys.lemma1/charitable proofd\n");
  check_says(folder, "verify --claims nys.lemma1/charitable --expect expected.txt",
             "--expect: expected.txt, line 1, the verdict: VERIFIED, HOLDS, ");
}
