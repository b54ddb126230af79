// croquis choose, and what croquis model makes of its choice.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "support/capture.hpp"
#include "support/files.hpp"
#include "support/formula_model.hpp"
#include "support/gnuplot_script.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

// A small BERT with 30 sequences of 9 tokens.
struct Folder : TemporaryFolder {
  Folder() {
    const FormulaModel model = formula_model("bert");
    write_text(path() / "model.safetensors", model.file());
    write_text(path() / "config.json", model.config);
    std::vector<std::int64_t> ids, labels;
    for (std::int64_t i = 0; i < 30 * 9; ++i) {
      ids.push_back((7 * i + i * i / 5) % 11);
      labels.push_back(i % 4 == 0 ? ids.back() : -100);
    }
    write_text(path() / "ids.npy", npy_integers("(30, 9)", ids));
    write_text(path() / "labels.npy", npy_integers("(30, 9)", labels));
  }
};

const std::string kOneModel = "choose --model model.safetensors --ids ids.npy --layer all --max-cost 100 ";
const std::string kModel = kOneModel + "--features 2,4,9 ";

const char* const kChoiceHeader =
    "input,layer,head,eps,delta,confidence,metric,method,preset,features,cost,exact_cost,cost_ratio,error_median,"
    "error_q95,failure_upper,draws,sequences,status,needed,open,evaluations,cost_unit,seed,precision,target,"
    "flops_limit,head_count,rows\n";

}  // namespace

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

TEST_CASE("choose: errors that are far above eps are named in the plot and do not stretch its axis") {
  const TemporaryFolder folder;
  const auto row = [](int head, const std::string& method, double error, const std::string& status) {
    return fmt::format(
        "arrays:q;head={0},NA,{0},0.1,0.05,0.95,frobenius_rel,{1},paper,64,500,1000,0.5,{2},{2},0.04,96,1,{3},NA,0,435,"
        "flops,1,double,softmax,1,1,NA\n",
        head, method, error, status);
  };
  const auto drawn = [&](double error) {
    write_text(folder / "c.csv",
               kChoiceHeader + row(0, "informer", 0.08, "chosen") + row(1, "performer", error, "undecided"));
    DrawnPlot plot = drawn_plot("plot c.csv --out c.svg", folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    return plot;
  };
  const DrawnPlot all = drawn(0.15), far = drawn(1e7);
  CHECK_FALSE(contains(all.title, "above the axis"));
  CHECK_MESSAGE(contains(far.title, "not drawn, above the axis: 1 point\n"), far.title);
  // Beyond 0.08 and eps, neither of which lies on the frame.
  CHECK_MESSAGE(contains(all.script, "set yrange [0.07:0.2]"), all.script);
  CHECK_MESSAGE(contains(far.script, "set yrange [0.07:0.12]"), far.script);
  write_text(folder / "c.csv", kChoiceHeader + row(0, "informer", 5e-4, "chosen") +
                                   row(1, "performer", 99, "undecided") + row(2, "performer", 101, "undecided"));
  const DrawnPlot wide = drawn_plot("plot c.csv --out c.svg", folder.path());
  CHECK(contains(wide.script, "set yrange [*:100]\n"));
  CHECK(contains(wide.title, "above the axis: 1 point\n"));
}

// gnuplot ends a long axis at powers of ten.
TEST_CASE("choose: where eps is a power of ten, its line does not lie on the frame of the plot") {
  const TemporaryFolder folder;
  const auto range = [&](const std::string& eps, const std::vector<std::string>& errors) {
    std::string text = kChoiceHeader;
    int head = 0;
    for (const std::string& error : errors) {
      text += fmt::format(
          "arrays:q;head={0},NA,{0},{1},0.05,0.95,frobenius_rel,performer,paper,64,500,1000,0.5,{2},{2},0.04,96,1,"
          "undecided,NA,0,435,flops,1,double,softmax,1,1,NA\n",
          head++, eps, error);
    }
    write_text(folder / "c.csv", text);
    const DrawnPlot plot = drawn_plot("plot c.csv --out c.svg", folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    const std::size_t at = plot.script.find("set yrange ");
    REQUIRE(at != std::string::npos);
    return plot.script.substr(at + 11, plot.script.find('\n', at) - at - 11);
  };
  CHECK(range("0.1", {"0.2", "20"}) == "[0.0909091:*]");
  CHECK(range("0.001", {"0.002", "0.2"}) == "[0.000909091:*]");
  CHECK(range("10", {"0.2", "2"}) == "[*:11]");
  CHECK(range("0.1", {"0.1", "10"}) == "[0.0909091:11]");
  CHECK(range("0.104", {"0.2", "9.6"}) == "[0.0945455:10.56]");  // nearly
  CHECK(range("0.15", {"0.2", "20"}) == "[*:*]");
  CHECK(range("0.1", {"0.2", "99", "900"}) == "[0.0909091:100]");  // the last one is above the axis
}

TEST_CASE("choose: choices whose quantile is 0 or infinite are counted in the plot, and have a point in the report") {
  const TemporaryFolder folder;
  const auto row = [](int head, const char* median, const char* q95, const char* status) {
    return fmt::format(
        "arrays:q;head={0},NA,{0},0.1,0.05,0.95,frobenius_rel,v-mean,paper,8,5,10,0.5,{1},{2},0.04,96,1,"
        "{3},NA,0,4,flops,1,double\n",
        head, median, q95, status);
  };
  const std::string header =
      "input,layer,head,eps,delta,confidence,metric,method,preset,features,cost,exact_cost,cost_ratio,error_median,"
      "error_q95,failure_upper,draws,sequences,status,needed,open,evaluations,cost_unit,seed,precision\n";
  const std::string without = row(0, "0", "0", "chosen") + row(1, "0.25", "inf", "undecided");
  write_text(folder / "c.csv", header + without);
  const ProgramRun none = run_croquis("plot c.csv --out c.svg", folder.path());
  CHECK(none.status == 2);
  CHECK_MESSAGE(contains(none.output, "no choice has a 95 % quantile other than 0 and infinity"), none.output);
  REQUIRE(run_croquis("report c.csv --out c.html", folder.path()).status == 0);
  const std::string page = read_text(folder / "c.html");
  CHECK(contains(page, "[0.0,null,null,null,0,\"[arrays:q;head=0]\"]"));
  CHECK(contains(page, "[null,[0.25,null,null,null,0,\"[arrays:q;head=1]\"]]"));
  write_text(folder / "c.csv", header + without + row(2, "0.05", "0.07", "chosen"));
  const DrawnPlot some = drawn_plot("plot c.csv --out c.svg", folder.path());
  REQUIRE_MESSAGE(some.run.status == 0, some.run.output);
  CHECK_MESSAGE(contains(some.title, "not drawn: 2 choices whose 95 % quantile is 0 or infinite\n"), some.title);
}

TEST_CASE("choose: lines and choices of a plot have one cost, where sequences differ in length too") {
  const Folder folder;
  std::vector<std::int64_t> lengths(30, 9);
  for (std::size_t i = 0; i < lengths.size(); i += 3) lengths[i] = 4;  // fewer than d: exact attention
  write_text(folder / "lengths.npy", npy_integers("(30,)", lengths));
  const DrawnPlot plot = drawn_plot(
      kOneModel +
          "--lengths lengths.npy --features 6 --methods linformer --per model --eps 50 --delta 0.3 --plot c.svg",
      folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  // The block of data of a curve begins with the cost of its first point.
  const auto cost = [&](const std::string& title) {
    const auto place = std::find(plot.legend.begin(), plot.legend.end(), title);
    REQUIRE(place != plot.legend.end());
    const std::string block = fmt::format("$d{} << EOD\n", place - plot.legend.begin());
    return std::stod(plot.script.substr(plot.script.find(block) + block.size()));
  };
  CHECK(cost("linformer") == doctest::Approx(cost("linformer, chosen")).epsilon(1e-12));
}

TEST_CASE("choose: where nothing is chosen there is no plot, which is no failure of the run") {
  const TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "choose --input gaussian --n 32 --p 4 --methods performer --features 16 --max-cost 0.001 --out c.csv "
      "--plot c.svg",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(column_of(folder / "c.csv", "status") == std::vector<std::string>{"exact"});
  CHECK(contains(run.output, "c.svg: is not drawn: nothing but exact attention is chosen"));
  CHECK_FALSE(contains(run.output, "\nplot "));
  CHECK_FALSE(std::filesystem::exists(folder / "c.svg"));
  const ProgramRun plot = run_croquis("plot c.csv", folder.path());
  CHECK(plot.status == 2);
  CHECK(contains(plot.output, "nothing but exact attention is chosen"));
}

TEST_CASE("choose: a picture of an earlier run does not stay beside rows of which there is none") {
  const TemporaryFolder folder;
  const std::string command = "choose --input gaussian --n 32 --p 4 --features 16 --quiet --out c.csv --plot c.svg ";
  REQUIRE(run_croquis(command + "--methods v-mean --eps 9", folder.path()).status == 0);
  REQUIRE(std::filesystem::exists(folder / "c.svg"));
  // Candidates that are tried and not chosen are drawn.
  REQUIRE(run_croquis(command + "--methods v-mean --eps 1e-9 --overwrite", folder.path()).status == 0);
  CHECK(column_of(folder / "c.csv", "status") == std::vector<std::string>{"exact"});
  CHECK(contains(read_text(folder / "c.svg"), "eps = 1e-09"));
  const ProgramRun run = run_croquis(command + "--methods performer --max-cost 0.001 --overwrite", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(run.output, "c.svg: is not drawn: nothing but exact attention is chosen"));
  CHECK(contains(run.output, "the picture that was there is removed"));
  CHECK_FALSE(std::filesystem::exists(folder / "c.svg"));
}

TEST_CASE("choose: what a guarantee is about is that of the choices it is for, whichever stands first") {
  const TemporaryFolder folder;
  const std::string header =
      "input,layer,head,eps,delta,confidence,metric,method,preset,features,cost,exact_cost,cost_ratio,error_median,"
      "error_q95,failure_upper,draws,sequences,status,needed,open,evaluations,cost_unit,seed,precision\n";
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
                 {exact + chosen("1"), one},
                 {exact + "h1" + exact.substr(2), ""}};
  for (const auto& [rows, scope] : results) {
    CAPTURE_BINDING(scope);
    write_text(folder / "c.csv", header + rows);
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

TEST_CASE("choose: heads of a model on sequences, and the model with what was chosen") {
  const Folder folder;
  const ProgramRun run =
      run_croquis(kModel + "--eps 5 --delta 0.3 --methods v-mean,skeinformer --per head", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  // Everything is good enough, so the cheapest is chosen for every head.
  const std::vector<std::string> status = column_of(folder / "choose.csv", "status");
  CHECK(std::set<std::string>(status.begin(), status.end()) == std::set<std::string>{"chosen"});
  const std::vector<std::string> methods = column_of(folder / "choose.csv", "method");
  CHECK(std::set<std::string>(methods.begin(), methods.end()) == std::set<std::string>{"v-mean"});
  const std::string tokens = "model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0-2 ";
  const ProgramRun chosen = run_croquis(tokens + "--choice choose.json --out chosen.csv", folder.path());
  REQUIRE_MESSAGE(chosen.status == 0, chosen.output);
  REQUIRE(run_croquis(tokens + "--methods v-mean --features 2 --out plain.csv", folder.path()).status == 0);
  CHECK(column_of(folder / "chosen.csv", "loss") == column_of(folder / "plain.csv", "loss"));
  CHECK(column_of(folder / "chosen.csv", "method").front() == "choice");
  CHECK(column_of(folder / "chosen.csv", "preset").front() == "choose.json");
  // One choice for each layer and for the model.
  for (const std::string per : {"layer", "model"}) {
    const ProgramRun joint = run_croquis(
        kModel + "--eps 5 --delta 0.3 --methods v-mean --quiet --per " + per + " --out " + per + ".csv", folder.path());
    REQUIRE_MESSAGE(joint.status == 0, joint.output);
    const std::string file = per + ".json";
    const std::string out = per + "-loss.csv";
    REQUIRE(run_croquis(tokens + "--choice " + file + " --out " + out, folder.path()).status == 0);
    CHECK(column_of(folder.path() / out, "loss") == column_of(folder / "plain.csv", "loss"));
  }
}

TEST_CASE("choose: of several heads together the probability is that of a head picked at random, and output says so") {
  const Folder folder;
  for (const std::string per : {"head", "layer", "model"}) {
    const ProgramRun run = run_croquis(
        kModel + "--eps 5 --delta 0.3 --methods v-mean --overwrite --out p.csv --per " + per, folder.path());
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
  const Folder folder;
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

TEST_CASE("choose: a choice is used for the heads that it was made for, and for no others") {
  const Folder folder;
  const std::string tokens = "model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0-2 ";
  const std::string settings =
      "choose --model model.safetensors --ids ids.npy --eps 5 --delta 0.3 --methods v-mean --features 2 --quiet ";
  const std::pair<const char*, const char*> parts[] = {{"--layer 1 --per model", "--layers 1"},
                                                       {"--layer 0 --head 1 --per layer", "--layers 0 --heads 1"},
                                                       {"--layer 1 --head 0 --per head", "--layers 1 --heads 0"}};
  for (const auto& [chosen, replaced] : parts) {
    CAPTURE_BINDING(chosen);
    const ProgramRun run = run_croquis(settings + chosen + " --overwrite", folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    REQUIRE(run_croquis(tokens + "--choice choose.json --overwrite --out chosen.csv", folder.path()).status == 0);
    REQUIRE(run_croquis(tokens + "--methods v-mean --features 2 --overwrite --out plain.csv " + replaced, folder.path())
                .status == 0);
    CHECK(column_of(folder / "chosen.csv", "loss") == column_of(folder / "plain.csv", "loss"));
  }
  // Heads that are given as arrays are in no model.
  REQUIRE(run_croquis("choose --input gaussian --n 32 --p 4 --eps 5 --methods v-mean --features 4 --quiet --overwrite "
                      "--out choose.csv",
                      folder.path())
              .status == 0);
  const ProgramRun arrays = run_croquis(tokens + "--choice choose.json --overwrite", folder.path());
  CHECK(arrays.status == 2);
  CHECK(contains(arrays.output, "choice 1 was made for heads of no model; give it the heads"));
}

TEST_CASE("choose: by the loss of the model, options that have no part in it are refused, also with their defaults") {
  const Folder folder;
  for (const std::string option : {"--layer 0", "--head 0", "--eps 0.1", "--delta 0.05", "--metric frobenius_rel",
                                   "--per head", "--cost flops", "--rows 20", "--trials 3", "--plot c.svg"}) {
    CAPTURE(option);
    const ProgramRun run = run_croquis(
        "choose --model model.safetensors --ids ids.npy --labels labels.npy "
        "--target-loss 0.1 " +
            option,
        folder.path());
    CHECK(run.status == 2);
    const std::string name = option.substr(0, option.find(' '));
    CHECK((contains(run.output, name + " excludes --target-loss; leave one of them out") ||
           contains(run.output, "--target-loss excludes " + name + "; leave one of them out")));
  }
}

TEST_CASE("choose: what is not decided is exact attention in the model, and says how much more it takes") {
  const Folder folder;
  const ProgramRun run =
      run_croquis(kModel + "--eps 5 --delta 0.05 --methods v-mean --sequence 0-4 --per model", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(contains(run.output, "too few to certify anything random"));
  CHECK(column_of(folder / "choose.csv", "status").front() == "undecided");
  CHECK(column_of(folder / "choose.csv", "method").front() == "v-mean");
  CHECK(std::stoi(column_of(folder / "choose.csv", "needed").front()) > 50);
  const ProgramRun model =
      run_croquis("model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0 --choice choose.json",
                  folder.path());
  REQUIRE_MESSAGE(model.status == 0, model.output);
  CHECK(column_of(folder / "model.csv", "loss") == column_of(folder / "model.csv", "loss_exact"));
  CHECK(contains(model.output, "--choice has exact attention in all heads"));
}

TEST_CASE("choose: errors against another function than softmax attention are said to be that, by the model too") {
  const Folder folder;
  const std::string tokens = "model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0 ";
  for (const auto& [method, other] : {std::pair("skyformer", true), {"v-mean", false}}) {
    CAPTURE_BINDING(method);
    const ProgramRun run = run_croquis(
        kModel + "--eps 50 --delta 0.3 --per model --out c.csv --overwrite --methods " + method, folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    const std::string said = "The errors are those against Gaussian-kernel attention C V";
    CHECK(contains(run.output, said) == other);
    CHECK(contains(run_croquis("show c.csv", folder.path()).output, said) == other);
    const ProgramRun model = run_croquis(tokens + "--choice c.json --out m.csv --overwrite", folder.path());
    REQUIRE_MESSAGE(model.status == 0, model.output);
    CHECK(contains(model.output, "another function than softmax attention, which is what the model computes") == other);
    CHECK_FALSE(contains(model.output, "--choice has exact attention in all heads"));
  }
}

TEST_CASE(
    "choose: exact answers have their target in the file too, and the model says that it runs its own attention") {
  const Folder folder;
  const std::string tokens = "model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0 ",
                    said = "errors of --choice are against Gaussian-kernel attention C V, another function";
  for (const auto& [options, target, other] :
       {std::tuple("skyformer --eps 1e-9", "kernelized", true), {"v-mean --eps 1e-9", "softmax", false}}) {
    CAPTURE_BINDING(options);
    const ProgramRun run =
        run_croquis(kModel + "--delta 0.3 --per model --out c.csv --overwrite --methods " + options, folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    CHECK(column_of(folder / "c.csv", "status").front() == "exact");
    CHECK(column_of(folder / "c.csv", "target").front() == target);
    CHECK(contains(read_text(folder / "c.json"), std::string("\"target\": \"") + target));
    const std::string against = "The errors are those against Gaussian-kernel attention C V",
                      page = std::string(target) + ".html";
    CHECK(contains(run.output, against) == other);
    REQUIRE(run_croquis("report c.csv --out " + page, folder.path()).status == 0);
    CHECK(contains(read_text(folder / page), against) == other);
    const ProgramRun model = run_croquis(tokens + "--choice c.json --out m.csv --overwrite", folder.path());
    REQUIRE_MESSAGE(model.status == 0, model.output);
    CHECK_MESSAGE(contains(model.output, said) == other, model.output);
    CHECK(column_of(folder / "m.csv", "loss") == column_of(folder / "m.csv", "loss_exact"));
  }
  // A choice by the loss was tested with the model's own attention.
  const ProgramRun by_loss = run_croquis(
      "choose --model model.safetensors --ids ids.npy --labels labels.npy --target-loss 99 --search-sequences 4 "
      "--max-cost 100 --methods skyformer --features 2 --out c.csv --overwrite",
      folder.path());
  REQUIRE_MESSAGE(by_loss.status == 0, by_loss.output);
  const ProgramRun model = run_croquis(tokens + "--choice c.json --out m.csv --overwrite", folder.path());
  REQUIRE_MESSAGE(model.status == 0, model.output);
  CHECK(contains(model.output, "skyformer approximates Gaussian-kernel attention"));
  CHECK_FALSE(contains(model.output, said));
}

TEST_CASE("choose: of rows without a target it is that of the method") {
  const TemporaryFolder folder;
  const std::string header =
      "input,layer,head,eps,delta,confidence,metric,method,preset,features,cost,exact_cost,cost_ratio,error_median,"
      "error_q95,failure_upper,draws,sequences,status,needed,open,evaluations,cost_unit,seed,precision\n";
  for (const auto& [method, other] : {std::pair("skyformer", true), {"v-mean", false}}) {
    write_text(folder / "c.csv", header + fmt::format("arrays:q,NA,NA,0.1,0.05,0.95,frobenius_rel,{},paper,8,5,10,0.5,"
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
}

TEST_CASE("choose: an interrupted run goes on, with the same answer") {
  const Folder folder;
  const std::string question = kModel + "--eps 0.3 --delta 0.3 --methods skeinformer,linformer --quiet ";
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
      kModel + "--eps 0.4 --delta 0.3 --methods skeinformer,linformer --out part.csv --resume", folder.path());
  CHECK(other.status == 2);
  CHECK(contains(other.output, "question"));
}

TEST_CASE("choose: by the loss, a run that was killed while it wrote its rows goes on, whichever of them are there") {
  const Folder folder;
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

TEST_CASE("choose: what is asked for is printed with all of its digits") {
  const TemporaryFolder folder;
  const ProgramRun run = run_croquis(
      "choose --input gaussian --n 32 --p 4 --eps 0.5 --delta 1e-12 --confidence 0.99999999 --methods v-mean "
      "--features 4 --out c.csv",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK_MESSAGE(contains(run.output, "P(frobenius_rel <= 0.5) >= 1 - 1e-12; with confidence 0.99999999 "), run.output);
}

TEST_CASE("choose: wrong input is refused in one line") {
  const Folder folder;
  const std::pair<const char*, const char*> wrong[] = {{"--eps 0", "--eps: 0 is not a positive, finite number"},
                                                       {"--eps inf", "--eps: inf is not a positive, finite number"},
                                                       {"--target-loss inf", "--target-loss: inf is not a positive"},
                                                       {"--delta 1", "--delta: 1 is not between"},
                                                       {"--confidence 0", "--confidence: 0 is not between"},
                                                       {"--max-cost -1", "--max-cost: -1 is not positive"},
                                                       {"--metric row_cosine_mean", "row_cosine_mean"},
                                                       {"--methods skyformer,v-mean", "two functions"},
                                                       {"--methods best-rank-d", "as much work as exact attention"},
                                                       {"--features 0", "--features"},
                                                       {"--shard 1/2 --target-loss 1", "--shard"},
                                                       {"--rows 4 --metric max_abs", "--metric"},
                                                       {"--per layer", "--per layer: the input has no layers"},
                                                       {"--rows 10000", "--rows: 10000"}};
  for (const auto& [option, says] : wrong) {
    CAPTURE_BINDING(option);
    check_refused(run_croquis(std::string("choose --input gaussian --n 64 --p 4 ") + option, folder.path()), says);
  }
}

TEST_CASE("choose: files that are no choice are refused in one line") {
  const Folder folder;
  const std::string one = R"({"choices": [{"layer": 0, "head": 0, "method": "v-mean", "features": 2}]})";
  const std::pair<std::string, const char*> wrong[] = {
      {"", "choice.json"},
      {"{}", "has no choices"},
      {R"({"choices": [3]})", "choice 1 is no object"},
      {R"({"choices": [{"features": 2}]})", "has no method"},
      {R"({"choices": [{"method": "v-mean"}]})", "number of features"},
      {R"({"choices": [{"method": "v-meen", "features": 2}]})", "v-meen"},
      {R"({"choices": [{"method": "v-mean,skyformer", "features": 2}]})", "no single method"},
      {R"({"choices": [{"method": "skeinformer", "options": {"preset": 3}, "features": 2}]})",
       "preset that is no text"},
      {R"({"choices": [{"method": "v-mean", "features": 2, "layer": 99}]})", "is for layer 99, the model has"},
      {R"({"choices": [{"method": "v-mean", "features": 2, "head": -1}]})", "a head that is no number"},
      {R"({"choices": [{"method": "v-mean", "features": 2, "heads": 3}]})", "heads that are no array"},
      {R"({"choices": [{"method": "v-mean", "features": 2, "heads": [[0]]}]})", "a head that is no [layer, head]"},
      {R"({"choices": [{"method": "v-mean", "features": 2, "heads": [[99, 0]]}]})", "is for layer 99, the model has"},
      {R"({"choices": [{"method": "v-mean", "features": 2}, {"method": "v-mean", "features": 2}]})", "the second one"}};
  const std::string command =
      "model --model model.safetensors --ids ids.npy --labels labels.npy --sequence 0 --choice choice.json";
  for (const auto& [text, says] : wrong) {
    write_text(folder / "choice.json", text);
    CAPTURE_BINDING(text);
    check_refused(run_croquis(command, folder.path()), says);
  }
  write_text(folder / "choice.json", one);
  CHECK(run_croquis(command, folder.path()).status == 0);
  write_text(folder / "choice.json", R"({"choices": [{"method": "linformer", "features": 200}]})");
  const ProgramRun large = run_croquis(command + " --overwrite", folder.path());
  CHECK(large.status == 0);
  CHECK_MESSAGE(contains(large.output, "--choice has d = 200; heads have exact attention on sequences of fewer tokens"),
                large.output);
}
