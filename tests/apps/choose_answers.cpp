// What croquis choose answers, and how its output says what that rests on.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "apps/choice_folder.hpp"
#include "apps/made_rows.hpp"
#include "apps/table_numbers.hpp"
#include "support/capture.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

TEST_CASE("choose: one head is decided by draws, and all that it computed is in its files") {
  const TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "choose --input clustered --n 128 --p 8 --norm 4 --eps 0.6 --delta 0.1 --methods "
      "v-mean,skyformer-softmax,nystromformer "
      "--max-cost 10 --features 8:128 --out c.csv --plot c.svg",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(run.output, "with one sequence the answer is about draws on it"));
  CHECK(contains(run.output, "P(frobenius_rel <= 0.6) >= 0.9"));
  CHECK(column_of(folder / "c.csv", "status") == std::vector<std::string>{"chosen"});
  CHECK(column_of(folder / "c.csv", "sequences") == std::vector<std::string>{"1"});
  const std::string draws = column_of(folder / "c.csv", "evaluations").front();
  CHECK(draws == std::to_string(column_of(folder / "c.draws.csv", "error").size()));
  CHECK(contains(read_text(folder / "c.json"), "\"status\": \"chosen\""));
  CHECK(contains(read_text(folder / "c.svg"), "95 % quantile of frobenius_rel"));
  CHECK(
      contains(read_text(folder / "c.svg"), "certified to be below eps: the 90 % quantile; drawn: the 95 % quantile"));
  CHECK(contains(run.output, "95 % quantile are those of frobenius_rel"));
  CHECK(contains(run.output, "cost / exact"));
  CHECK(contains(read_text(folder / "c.svg"), "least at no more cost"));
  // The picture again, from the rows.
  CHECK(run_croquis("plot c.csv --out again.svg", folder.path()).status == 0);
}

TEST_CASE("choose: what a guarantee is about is that of the choices it is for, whichever stands first") {
  const TemporaryFolder folder;
  const std::string exact =
      "h0,NA,0,0.5,0.3,0.95,frobenius_rel,exact,paper,0,100,100,1,NA,NA,NA,0,0,exact,NA,0,3,flops,"
      "1,double\n";
  const auto chosen = [](const std::string& sequences) {
    return "h" + sequences + ",NA,1,0.5,0.3,0.95,frobenius_rel,v-mean,paper,16,8,100,0.08,0.02,0.03,0.29," + sequences +
           "," + sequences + ",chosen,NA,0,13,flops,1,double\n";
  };
  const std::string one = "other inputs are not covered", many = "over draws and new sequences, from ";
  const struct {
    std::string rows, scope;
  } results[] = {{exact + chosen("13"), many + "13 sequences."},
                 {chosen("13") + exact, many + "13 sequences."},
                 {exact + chosen("27") + chosen("13"), many + "13 to 27 sequences."},
                 {chosen("13") + chosen("27"), many + "13 to 27 sequences."},
                 {exact + chosen("1"), one},
                 {exact + "h1" + exact.substr(2), ""}};
  for (const auto& [rows, scope] : results) {
    CAPTURE_BINDING(scope);
    write_text(folder / "c.csv", kOldChoiceHeader + rows);
    const ProgramRun shown = run_croquis("show c.csv", folder.path());
    REQUIRE_MESSAGE(shown.status == 0, shown.output);
    REQUIRE(run_croquis("report c.csv --out c.html", folder.path()).status == 0);
    for (const std::string& text : {shown.output, read_text(folder / "c.html")}) {
      CHECK_MESSAGE(contains(text, one) == (scope == one), text);
      CHECK_MESSAGE(contains(text, many) == scope.starts_with(many), text);
      CHECK(contains(text, scope));
    }
  }
}

TEST_CASE("choose: of several heads together the probability is that of a head picked at random, and output says so") {
  const ChoiceFolder folder;
  for (const std::string per : {"head", "layer", "model"}) {
    const ProgramRun run = run_croquis(
        kChooseSizes + "--eps 5 --delta 0.3 --methods v-mean --overwrite --out p.csv --per " + per, folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    const std::string says = std::string("of a head picked at random among those of the ") +
                             (per == "layer" ? "layer" : "choice") + "; single heads may be worse";
    CHECK(contains(run.output, says) == (per != "head"));
    const std::string shown = run_croquis("show p.csv", folder.path()).output;
    CHECK(contains(shown, says) == (per != "head"));
    CHECK_FALSE(contains(shown, ", \n"));
  }
}

TEST_CASE("choose: by the loss, output says what the limit rests on, and has no empty columns") {
  const ChoiceFolder folder;
  const ProgramRun run = run_croquis(
      "choose --model model.safetensors --ids ids.npy --labels labels.npy --target-loss 9 --search-sequences 4 "
      "--methods v-mean --features 2 --max-cost 100 --out l.csv",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(run.output, "found on 4 sequences, tested on 26 others"));
  for (const std::string& output : {run.output, run_croquis("show l.csv", folder.path()).output}) {
    CHECK(contains(output, "tested on 26, others than those that found the steps"));
    CHECK(contains(output, "a rare catastrophe that none of them shows is not covered"));
    CHECK_FALSE(contains(output, "failures <="));
    CHECK_FALSE(contains(output, "needed"));
  }
}

TEST_CASE("choose: what costs too much to be tried is named, and exact attention has its reason") {
  const TemporaryFolder folder;
  const std::string command =
      "choose --input clustered --n 128 --p 8 --norm 4 --delta 0.1 --methods nystromformer --out c.csv --overwrite ";
  const ProgramRun dear = run_croquis(command + "--eps 0.5 --features 16,128", folder.path());
  REQUIRE_MESSAGE(dear.status == 0, dear.output);
  CHECK_MESSAGE(contains(dear.output, "not tried, as they cost no less than exact attention: nystromformer (d = 128)"),
                dear.output);
  const ProgramRun none = run_croquis(command + "--eps 0.5 --features 128", folder.path());
  CHECK_MESSAGE(contains(none.output, ": exact, as no candidate is cheap enough\n"), none.output);
  const ProgramRun bad = run_croquis(command + "--eps 1e-6 --features 4 --max-cost 9", folder.path());
  CHECK_MESSAGE(contains(bad.output,
                         ": exact, as no candidate is good enough; the nearest is nystromformer, "
                         "d = 4, with "),
                bad.output);
  CHECK(contains(bad.output, " as the 0.9 quantile of frobenius_rel\n"));
}

TEST_CASE("choose: of rows without a target it is that of the method") {
  const TemporaryFolder folder;
  for (const auto& [method, other] : {std::pair("skyformer", true), {"v-mean", false}}) {
    write_text(folder / "c.csv",
               kOldChoiceHeader + fmt::format("arrays:q,NA,NA,0.1,0.05,0.95,frobenius_rel,{},paper,8,5,10,0.5,"
                                              "0.05,0.07,0.04,96,1,chosen,NA,0,4,flops,1,double\n",
                                              method));
    CHECK(contains(run_croquis("show c.csv", folder.path()).output, "The errors are those against") == other);
  }
}

TEST_CASE("choose: the elements of a batch are sequences") {
  const TemporaryFolder folder;
  std::vector<double> numbers(30 * 2 * 16 * 3);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<double>(i * i % 1009));
  write_text(folder / "q.npy",
             npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (30, 2, 16, 3), }", bytes_of(numbers)));
  const ProgramRun run = run_croquis(
      "choose --q q.npy --k q.npy --v q.npy --methods v-mean --features 1 --eps 9 --delta 0.3", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(column_of(folder / "choose.csv", "input") == std::vector<std::string>{"arrays:q;head=0", "arrays:q;head=1"});
  CHECK(column_of(folder / "choose.csv", "status") == std::vector<std::string>{"chosen", "chosen"});
  CHECK(std::stoi(column_of(folder / "choose.csv", "sequences").front()) > 10);

  // A name that looks like that of an element.
  std::filesystem::rename(folder / "q.npy", folder / "x;batch=7;head=no.npy");
  const std::string odd = "'x;batch=7;head=no.npy'";
  const ProgramRun renamed = run_croquis("choose --q " + odd + " --k " + odd + " --v " + odd +
                                             " --methods v-mean --features 1 --eps 9 --delta 0.3 --out odd.csv",
                                         folder.path());
  REQUIRE_MESSAGE(renamed.status == 0, renamed.output);
  CHECK(column_of(folder / "odd.csv", "input") ==
        std::vector<std::string>{"arrays:x_batch=7_head=no;head=0", "arrays:x_batch=7_head=no;head=1"});
}

TEST_CASE("choose: the reason for exact attention is the one that its errors have") {
  const TemporaryFolder folder;
  const std::string line = "choose --input gaussian --n 64 --p 8 --features 8 --out c.csv ";
  // Its weights may be negative, so that they have no divergence.
  const ProgramRun undefined =
      run_croquis(line + "--methods linformer --metric row_kl_mean --trials 30", folder.path());
  REQUIRE_MESSAGE(undefined.status == 0, undefined.output);
  CHECK_MESSAGE(contains(undefined.output, ": exact, as no candidate has a row_kl_mean (NA in c.draws.csv)\n"),
                undefined.output);
  const std::string question = line + "--methods v-mean --eps 1e-9 ";
  REQUIRE(run_croquis(question + "--overwrite --quiet", folder.path()).status == 0);
  // As if errors of a smaller d were small, and certified nothing.
  const std::string header = read_text(folder / "c.draws.csv").substr(0, read_text(folder / "c.draws.csv").find('\n'));
  write_text(folder / "c.draws.csv", header + "\n" + column_of(folder / "c.draws.csv", "input").front() +
                                         ",0,NA,NA,v-mean,paper,8,1,1,double,1e-10,0.5,ok\n");
  const ProgramRun certified = run_croquis(question + "--resume", folder.path());
  REQUIRE_MESSAGE(certified.status == 0, certified.output);
  CHECK_MESSAGE(contains(certified.output, ": exact, as no candidate could be certified; the nearest is v-mean, d = 8"),
                certified.output);
}

TEST_CASE("choose: where --max-cost lets a method cost more than exact attention, output says so") {
  const TemporaryFolder folder;
  const std::string line = "choose --input gaussian --p 4 --methods nystromformer --eps 9 --out c.csv --overwrite ";
  const std::string said = "1 of 1 chosen: no cheaper than exact attention, which has no error";
  const ProgramRun dear = run_croquis(line + "--n 32 --features 16 --max-cost 100", folder.path());
  REQUIRE_MESSAGE(dear.status == 0, dear.output);
  REQUIRE(std::stod(column_of(folder / "c.csv", "cost_ratio").front()) > 1);
  CHECK_MESSAGE(contains(dear.output, said), dear.output);
  CHECK(contains(run_croquis("show c.csv", folder.path()).output, said));
  REQUIRE(run_croquis("report c.csv --out c.html", folder.path()).status == 0);
  CHECK(contains(read_text(folder / "c.html"), said));
  const ProgramRun cheap = run_croquis(line + "--n 256 --features 4", folder.path());
  REQUIRE_MESSAGE(cheap.status == 0, cheap.output);
  CHECK_FALSE(contains(cheap.output, "no cheaper than exact attention"));
}

TEST_CASE("choose: costs of random tokens stand beside the times of the heads themselves") {
  const TemporaryFolder folder;
  const auto row = [](int head, const std::string& status, double cost_ratio, const std::string& time_ratio) {
    return fmt::format(
        "h;head={0},NA,{0},0.1,0.05,0.95,frobenius_rel,kriged-coreset,paper,8,{1},1,{1},0.05,0.07,0.04,96,96,{2},NA,0,"
        "4,seconds,1,double,softmax,1,1,NA,{3}\n",
        head, cost_ratio, status, time_ratio);
  };
  const auto said = [&](const std::string& rows) {
    write_text(folder / "c.csv", with_fields(kChoiceHeader, ",time_ratio") + rows);
    REQUIRE(run_croquis("report c.csv --out c.html", folder.path()).status == 0);
    return run_croquis("show c.csv", folder.path()).output + read_text(folder / "c.html");
  };
  const std::string fine = row(0, "chosen", 0.25, "1.1") + row(1, "exact", 1, "NA");
  const std::string text = "osts are times on random tokens; on one sequence of these heads the chosen methods take ";
  CHECK(contains(said(fine), "\nc" + text + "1.1 to 1.1 times as long (time_ratio)\n"));
  const std::string slow = said(fine + row(2, "chosen", 0.25, "9.04"));
  CHECK(contains(slow,
                 "\nc" + text + "1.1 to 9 times as long (time_ratio), 1 of 2 by that no less than exact attention"));
  CHECK(contains(slow, "C" + text + "1.1 to 9 times as long"));
  CHECK_FALSE(contains(said(row(0, "chosen", 0.25, "NA")), "osts are times on random tokens; "));
}

TEST_CASE("choose: what is asked for is printed with all of its digits") {
  const TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "choose --input gaussian --n 32 --p 4 --eps 0.5 --delta 1e-12 --confidence 0.99999999 --methods v-mean "
      "--features 4 --out c.csv",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK_MESSAGE(contains(run.output, "P(frobenius_rel <= 0.5) >= 1 - 1e-12; with confidence 0.99999999 "), run.output);
}

TEST_CASE("choose: the table has a number needed where it is known, and says what all would cost with it") {
  const TemporaryFolder folder;
  const auto row = [](const std::string& input, const std::string& method, double cost, const std::string& errors,
                      const std::string& status, const std::string& needed) {
    return fmt::format(
        "{},NA,NA,0.1,0.05,0.95,frobenius_rel,{},paper,16,{:g},100,{},{},50,50,{},{},0,4,flops,1,double\n", input,
        method, 100 * cost, cost, errors, status, needed);
  };
  write_text(folder / "c.csv", kOldChoiceHeader + row("h0", "performer", 1, "0.05,0.08,0.04", "chosen", "NA") +
                                   row("h1", "performer", 0.4, "0.05,0.08,0.1", "undecided", "30") +
                                   row("h2", "performer", 0.4, "0.05,0.08,0.1", "undecided", "NA") +
                                   row("h3", "exact", 1, "NA,NA,NA", "exact", "NA"));
  const ProgramRun shown = run_croquis("show c.csv", folder.path());
  REQUIRE_MESSAGE(shown.status == 0, shown.output);
  CHECK_MESSAGE(line_of(shown.output, "h0").ends_with(" 0.04"), shown.output);
  CHECK(line_of(shown.output, "h1").ends_with(" 0.1          30 more"));
  CHECK(line_of(shown.output, "h2").ends_with(" 0.1          -"));
  CHECK(line_of(shown.output, "h3").ends_with(" exact                     1"));
  // A method that costs as much as exact attention is no gain. Of four heads one would cost 0.4.
  CHECK(contains(shown.output, "1 of 1 chosen: no cheaper than exact attention"));
  CHECK(contains(shown.output, "2 undecided. Followed, with exact attention where nothing is chosen, they cost 1 of"));
  CHECK(contains(shown.output, "and are chosen, all will cost 0.85.\n"));
}

TEST_CASE("choose: the nearest candidate is that of the head, by the quantile that delta asks for") {
  const TemporaryFolder folder;
  std::vector<double> numbers(2 * 24 * 3);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<double>(i * i % 1009));
  write_text(folder / "q.npy",
             npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 24, 3), }", bytes_of(numbers)));
  const std::string question =
      "choose --q q.npy --k q.npy --v q.npy --methods v-mean --features 4 --eps 1e-9 --delta 0.2 --out c.csv ";
  REQUIRE(run_croquis(question + "--quiet", folder.path()).status == 0);
  // As if each head had eleven draws with the errors 0.1 to 1.1, and those of the other were a hundred times as large.
  std::string draws = read_text(folder / "c.draws.csv");
  draws.erase(draws.find('\n') + 1);
  for (const int head : {0, 1}) {
    for (int trial = 1; trial <= 11; ++trial) {
      draws += fmt::format("arrays:q;head={0},0,NA,{0},v-mean,paper,4,{1},1,double,{2},0.5,ok\n", head, trial,
                           0.1 * trial * (head == 0 ? 1 : 100));
    }
  }
  write_text(folder / "c.draws.csv", draws);
  const ProgramRun again = run_croquis(question + "--resume", folder.path());
  REQUIRE_MESSAGE(again.status == 0, again.output);
  for (const auto& [head, error] : {std::pair(0, "0.9"), {1, "90"}}) {
    CHECK_MESSAGE(contains(again.output, fmt::format("arrays:q;head={}: exact, as no candidate is good enough; the "
                                                     "nearest is v-mean, d = 4, with {} as the 0.8 quantile of ",
                                                     head, error)),
                  again.output);
  }
}
