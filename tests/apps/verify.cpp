// croquis verify, from the outside.
#include <doctest/doctest.h>
#include <croquis/claims/ledger.hpp>
#include <croquis/inputs/synthetic.hpp>
#include <croquis/io/csv.hpp>

#include <algorithm>
#include <string>

#include "support/gnuplot_script.hpp"
#include "support/head_arrays.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

const std::string kSmallVerify = "verify --claims nys.lemma1/charitable,lin.jl-product/strict --quick ";

}  // namespace

TEST_CASE("croquis verify: a row for every input and one for the whole, with the verdict of the claim") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis(kSmallVerify, folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(run.output.find("lin.jl-product/strict  REFUTED") != std::string::npos);
  const croquis::CsvTable table = croquis::read_csv((folder / "verify.csv").string());
  CHECK(table.header == std::vector<std::string>{"claim",    "verdict",   "kind",     "source",       "input",
                                                 "n",        "p",         "d",        "trials",       "failures",
                                                 "estimate", "ci_lo",     "ci_hi",    "confidence",   "bound",
                                                 "observed", "slack",     "power",    "tightness_lo", "tightness_hi",
                                                 "trivial",  "threshold", "conceded", "reading",      "hypotheses",
                                                 "seed",     "seconds",   "layer",    "head"});
  for (const char* column : {"trivial", "threshold", "conceded"}) {
    for (const auto& row : table.rows) CHECK_FALSE(row[table.column(column)].empty());
  }
  int wholes = 0;
  for (const auto& row : table.rows) {
    if (row[table.column("input")] != "all") continue;
    ++wholes;
    CHECK(row[table.column("verdict")] == (row[0] == "nys.lemma1/charitable" ? "VERIFIED" : "REFUTED"));
  }
  CHECK(wholes == 2);
}

TEST_CASE("croquis verify: the same rows for 1 and 3 threads, and after an interruption anywhere") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallVerify + "--quiet --threads 1 --out a.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(kSmallVerify + "--quiet --threads 3 --out b.csv", folder.path()).status == 0);
  CHECK(rows_of(folder / "a.csv") == rows_of(folder / "b.csv"));
  const std::string whole = read_text(folder / "a.csv");
  for (const double part : {0.3, 0.6, 0.97}) {
    write_text(folder / "a.csv", whole.substr(0, static_cast<std::size_t>(part * static_cast<double>(whole.size()))));
    const ProgramRun run = run_croquis(kSmallVerify + "--quiet --out a.csv --resume", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK(rows_of(folder / "a.csv") == rows_of(folder / "b.csv"));
  }
}

TEST_CASE("croquis verify: its plot names both axes, and has room for the names of its inputs") {
  TemporaryFolder folder;
  REQUIRE(run_croquis("verify --claims sky.lemmaC1/strict --quick --quiet", folder.path()).status == 0);
  const DrawnPlot plot = drawn_plot("plot verify.csv --out v.svg", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  CHECK(contains(plot.script, "tail: the failure probability that the claim allows"));
  CHECK(contains(plot.script, "set ylabel \"observed: a quantile of the error\""));
  CHECK(contains(plot.script, "title 'bound'"));
  CHECK(contains(plot.script, "vertical Left reverse"));
}

TEST_CASE("croquis verify: its rows are the findings that the library's verify returns, in their order") {
  TemporaryFolder folder;
  REQUIRE(run_croquis(kSmallVerify + "--quiet --seed 7 --input gaussian --n 40 --p 4 --norm 3", folder.path()).status ==
          0);
  const croquis::CsvTable table = croquis::read_csv((folder / "verify.csv").string());

  using namespace croquis::claims;
  const croquis::Key seed(7);
  const auto problem = croquis::gaussian_input(seed.child("input").child("gaussian"), {.n = 40, .p = 4, .norm = 3});
  const auto entries = verify({"gaussian:3", problem}, {.quick = true}, seed.child("verify"),
                              {find_claim("nys.lemma1/charitable"), find_claim("lin.jl-product/strict")});
  std::size_t i = 0;
  for (const LedgerEntry& entry : entries) {
    std::vector<Finding> findings = entry.findings;
    findings.push_back(entry.whole);
    for (const Finding& finding : findings) {
      REQUIRE(i < table.rows.size());
      const auto value = [&](const char* column) { return table.rows[i][table.column(column)]; };
      CAPTURE(value("input"));
      CHECK(value("claim") == entry.id());
      CHECK(value("input") == finding.input);
      CHECK(value("verdict") == croquis::verdict_name(finding.verdict));
      CHECK(value("estimate") == croquis::csv_number(finding.estimate));
      CHECK(value("confidence") == croquis::csv_number(finding.confidence));
      CHECK(value("bound") == croquis::csv_number(finding.bound));
      CHECK(value("slack") == croquis::csv_number(finding.slack()));
      CHECK(value("hypotheses") == finding.hypotheses);
      ++i;
    }
  }
  CHECK(i == table.rows.size());
}

TEST_CASE("croquis verify --expect: status 1 and the claim's name where a verdict is another one") {
  TemporaryFolder folder;
  write_text(folder / "right.txt",
             "# comment\nnys.lemma1/charitable VERIFIED\n\nlin.jl-product/strict REFUTED # as documented\n");
  write_text(folder / "wrong.txt", "nys.lemma1/charitable REFUTED\n");
  CHECK(run_croquis(kSmallVerify + "--expect right.txt", folder.path()).status == 0);
  const ProgramRun run = run_croquis(kSmallVerify + "--resume --expect wrong.txt", folder.path());
  CHECK(run.status == 1);
  CHECK(run.output.find("nys.lemma1/charitable is VERIFIED, expected REFUTED") != std::string::npos);

  // A claim that the file names and that is not decided is not as expected either.
  write_text(folder / "more.txt", "nys.lemma1/charitable VERIFIED\nsky.lift/strict VERIFIED\n");
  const ProgramRun less = run_croquis(kSmallVerify + "--resume --expect more.txt", folder.path());
  CHECK(less.status == 1);
  CHECK(less.output.find("sky.lift/strict was not decided, expected VERIFIED") != std::string::npos);
}

TEST_CASE("croquis verify: a claim without a curve is refused a plot before it is decided") {
  TemporaryFolder folder;
  const ProgramRun run = run_croquis("verify --claims sky.thm2/order --quick --plot v.svg --out v.csv", folder.path());
  CHECK(run.status == 2);
  CHECK_MESSAGE(contains(run.output, "--plot: none of these claims has a curve to draw"), run.output);
  CHECK_FALSE(std::filesystem::exists(folder / "v.csv"));
}

TEST_CASE("croquis verify: on a head of one's own; --explain; --mutants") {
  TemporaryFolder folder;
  const ProgramRun own =
      run_croquis("verify --claims nys.* --quick --input gaussian --n 40 --p 4 --norm 3 --markdown", folder.path());
  CHECK_MESSAGE(own.status == 0, own.output);
  CHECK(own.output.find("| `nys.lemma2/all-points` | VERIFIED |") != std::string::npos);
  const croquis::CsvTable table = croquis::read_csv((folder / "verify.csv").string());
  for (const auto& row : table.rows) CHECK(row[table.column("input")].find("text:sample") == std::string::npos);

  // Verdicts by fixed examples, whatever the head is, are named below the table; those of rows on the head are not.
  const ProgramRun named = run_croquis(
      "verify --claims nys.start,rpe.unbiased/gaussian-rows,rpe.prop1,rpe.toeplitz/norm-wise,sky.dstat-growth/strict "
      "--quick --input gaussian --n 40 --p 4 --norm 3 --out named.csv",
      folder.path());
  CHECK_MESSAGE(named.status == 0, named.output);
  CHECK_MESSAGE(named.output.find("not on this input (column input of the rows):\n  sky.dstat-growth/strict "
                                  "nys.start/strict\n\n") != std::string::npos,
                named.output);
  const ProgramRun usual = run_croquis("verify --claims nys.start --quick --out usual.csv", folder.path());
  CHECK(usual.output.find("Decided on examples") == std::string::npos);

  // So they are in Markdown, when the result is shown again, and on its page.
  const std::string sentence =
      "Decided on examples of their own, not on this input (column input of the rows): sky.dstat-growth/strict, "
      "nys.start/strict.";
  const ProgramRun markdown = run_croquis(
      "verify --claims nys.start,sky.dstat-growth/strict --quick --input gaussian --n 40 --p 4 --norm 3 --markdown "
      "--out "
      "markdown.csv",
      folder.path());
  CHECK_MESSAGE(markdown.output.find("\n\n" + sentence) != std::string::npos, markdown.output);
  CHECK(run_croquis("show named.csv", folder.path()).output.find(sentence) != std::string::npos);
  REQUIRE(run_croquis("report named.csv usual.csv --out page.html", folder.path()).status == 0);
  const std::string page = read_text(folder / "page.html");
  CHECK(page.find("<li>" + sentence + "</li>") != std::string::npos);
  CHECK(page.find("Decided on examples") == page.rfind("Decided on examples"));  // not of the usual inputs

  // Nor does a number say that it is about the text.
  const auto said = [&](const std::string& input) {
    const ProgramRun run =
        run_croquis("verify --claims ske.fig1/charitable --quick --overwrite --out fig1.csv" + input, folder.path());
    CHECK_MESSAGE(run.output.find("mean of the values), large d") != std::string::npos, run.output);
    return run.output.find("large d, text") != std::string::npos;
  };
  CHECK_FALSE(said(" --input gaussian --n 40 --p 4"));
  CHECK(said(""));

  const ProgramRun text = run_croquis("verify --quick --explain nys.lemma2/all-points --out none.csv", folder.path());
  CHECK(text.status == 0);
  for (const char* word :
       {"statement", "reading", "hypotheses", "proof", "checked by", "mutant", "found        VERIFIED"}) {
    CHECK(text.output.find(word) != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(folder / "none.csv"));

  const ProgramRun mutants =
      run_croquis("verify --quick --mutants --claims nys.lemma2/all-points --out m.csv", folder.path());
  CHECK_MESSAGE(mutants.status == 0, mutants.output);
  CHECK(mutants.output.find("nys.lemma2/all-points!six-iterations") != std::string::npos);

  // A change of a bound that survives is undecided with few draws, and that is no other verdict.
  const ProgramRun ladder = run_croquis("verify --quick --mutants --claims lin.jl-norm --out l.csv", folder.path());
  CHECK_MESSAGE(ladder.status == 0, ladder.output);
  CHECK(ladder.output.find("lin.jl-norm/strict!four-times  INCONCLUSIVE") != std::string::npos);
  CHECK(ladder.output.find("the ledger says") == std::string::npos);
  CHECK(ladder.output.find("which no input is known to refute:\n  lin.jl-norm/strict!four-times: ") !=
        std::string::npos);
}

TEST_CASE("croquis verify: of several heads the run knows the names, and the page says what none of them decides") {
  TemporaryFolder folder;
  for (const char* name : {"q", "k", "v"}) {
    const std::vector<float> numbers = head_numbers(name, 2 * 24 * 4);
    write_text(folder / (std::string(name) + ".npy"), npy_of({2, 24, 4}, bytes_of(numbers), "<f4"));
  }
  const std::string heads = "verify --claims nys.start,nys.lemma2/all-points --quick --q q.npy --k k.npy --v v.npy ";
  const ProgramRun run = run_croquis(heads + "--out two.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  for (const char* column : {"layer", "head"}) {
    const std::vector<std::string> inputs = column_of(folder / "two.csv", "input"),
                                   numbers = column_of(folder / "two.csv", column);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CAPTURE(inputs[i]);
      const bool second = contains(inputs[i], ";head=1"),
                 of_head = column[0] == 'h' && (second || contains(inputs[i], ";head=0"));
      CHECK(numbers[i] == (of_head ? (second ? "1" : "0") : "NA"));
    }
  }
  CHECK(contains(read_text(folder / "two.csv"), ";head=1"));
  const std::string shown = run_croquis("show two.csv", folder.path()).output;
  CHECK_MESSAGE(shown.find("(column input of the rows): nys.start/strict.") != std::string::npos, shown);
  CHECK(run_croquis(heads + "--out two.csv --resume", folder.path()).status == 0);
}

TEST_CASE("croquis verify: a check that broke down is named at the end, and is no unexpected verdict") {
  TemporaryFolder folder;
  const std::string run = "verify --claims nys.lemma1 --quick --out a.csv";
  REQUIRE_FALSE(contains(run_croquis(run, folder.path()).output, "broke down"));
  std::string rows = read_text(folder / "a.csv");
  const std::string found = "largest gap between I - A Z_1";  // with it the sentence of nys.lemma1/charitable begins
  REQUIRE(contains(rows, found));
  write_text(folder / "a.csv", rows.replace(rows.find(found), found.size(), "the check broke down: no luck"));
  const ProgramRun again = run_croquis(run + " --resume", folder.path());
  CHECK(again.status == 0);
  CHECK_MESSAGE(contains(again.output,
                         "warning: the check of 1 claim broke down, which says nothing about it: "
                         "nys.lemma1/charitable\n"),
                again.output);
}

TEST_CASE("croquis verify: names of the first edition and of a whole sentence find readings") {
  TemporaryFolder folder;
  const std::string options = " --quick --trials 20 --overwrite";
  const ProgramRun former = run_croquis("verify --claims lin.jl-product.stated" + options, folder.path());
  CHECK_MESSAGE(former.status == 0, former.output);
  CHECK(former.output.find("lin.jl-product/strict ") != std::string::npos);
  CHECK(former.output.find("lin.jl-product/corrected") == std::string::npos);
  const ProgramRun sentence = run_croquis("verify --claims lin.jl-product" + options, folder.path());
  CHECK(sentence.output.find("lin.jl-product/strict ") != std::string::npos);
  CHECK(sentence.output.find("lin.jl-product/corrected ") != std::string::npos);
  for (const char* name : {"lin.thm1.construction", "lin.thm1.stated"}) {
    const ProgramRun alias = run_croquis(std::string("verify --claims ") + name + options, folder.path());
    CHECK(alias.output.find("lin.thm1/construction ") != std::string::npos);
  }
  write_text(folder / "former.txt", "lin.jl-product.stated REFUTED\n");
  CHECK(run_croquis("verify --claims lin.jl-product/strict --quick --overwrite --expect former.txt", folder.path())
            .status == 0);
}

TEST_CASE("croquis verify: wrong usage is one line and status 2") {
  TemporaryFolder folder;
  write_text(folder / "bad.txt", "nys.lemma1/charitable PERHAPS\n");
  write_text(folder / "unknown.txt", "nys.lemma9 VERIFIED\n");
  for (const char* arguments :
       {"--claims nys.lemma9", "--claims ,", "--confidence 1", "--confidence 0", "--confidence nan", "--trials 1",
        "--expect none.txt", "--expect bad.txt", "--expect unknown.txt", "--mutants --expect bad.txt",
        "--explain nothing", "--input gaussian --text x.txt", "--input gaussian --n 20 --causal",
        "--input gaussian --n 1", "--plot x.jpg"}) {
    CAPTURE(arguments);
    const bool has_claims = std::string(arguments).starts_with("--claims");
    const ProgramRun run = run_croquis(
        std::string(has_claims ? "verify --quick " : "verify --quick --claims nys.lemma1/charitable ") + arguments,
        folder.path());
    CHECK(run.status == 2);
    CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
    CHECK(run.output.size() < 250);
    CHECK_FALSE(std::filesystem::exists(folder / "verify.csv"));
  }
  write_text(folder / "near.txt", "nys.lema1/strict VERIFIED\n");
  CHECK(run_croquis("verify --expect near.txt", folder.path()).output.find("did you mean 'nys.lemma1/strict'?") !=
        std::string::npos);
  CHECK(run_croquis("verify --help", folder.path()).output.find("1 a verdict is not as expected") != std::string::npos);
}
