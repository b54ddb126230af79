// croquis model.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/csv.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

#include "apps/formula_folder.hpp"
#include "support/capture.hpp"
#include "support/files.hpp"
#include "support/formula_model.hpp"
#include "support/gnuplot_script.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

// c.json, for the model bert.
void choose_for_bert(const FormulaFolder& folder) {
  REQUIRE(run_croquis("choose --target-loss 9 --search-sequences 1 --methods v-mean --features 2 --model "
                      "bert/model.safetensors --quiet --out c.csv" +
                          kLabelled,
                      folder.path())
              .status == 0);
}

// Rows of `croquis model` whose sequences differ much more than their methods: linformer is above performer by .1 on
// each, skeinformer by 0, .1 and -.02.
std::string losses_of_three_methods(int sequences) {
  std::string rows =
      "model,layers,method,preset,features,trial,seed,sequence,tokens,counted,loss,loss_exact,accuracy,"
      "accuracy_exact,agreement,kl,hidden_rel,seconds,status,flops,flops_exact,precision\n";
  const double exact[] = {1, 2, 3}, apart[] = {0, 0.1, -0.02};
  for (int s = 0; s < sequences; ++s) {
    for (const auto& [method, loss, flops] : {std::tuple{"performer", exact[s] + 0.2, 1000.0},
                                              {"linformer", exact[s] + 0.3, 3000.0},
                                              {"skeinformer", exact[s] + 0.2 + apart[s], 500.0}}) {
      rows += fmt::format("m,all,{},paper,16,1,1,{},9,8,{},{},0.5,0.6,0.9,0.1,0.2,0.01,ok,{},8000,double\n", method, s,
                          loss, exact[s], flops);
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("model: every architecture has the loss that PyTorch computed") {
  const FormulaFolder folder;
  for (const FormulaModel& model : formula_models()) {
    CAPTURE(model.name);
    for (const std::string precision : {"double", "float"}) {
      const ProgramRun run = run_croquis("model --model " + model.name + "/model.safetensors" + kLabelled +
                                             "--sequence 0 --methods exact --overwrite --precision " + precision,
                                         folder.path());
      REQUIRE_MESSAGE(run.status == 0, run.output);
      const double loss = std::stod(column_of(folder / "model.csv", "loss").at(0)),
                   expected = model.numbers.at("loss")[0];
      CHECK(std::abs(loss / expected - 1) <= (precision == "double" ? 1e-11 : 1e-4));
    }
  }
}

TEST_CASE("model: rows by sequence, layers, method, d and draw; shards, threads and resuming make the same rows") {
  const FormulaFolder folder;
  const std::string command = "model --model albert/model.safetensors" + kLabelled +
                              "--methods exact,linformer,v-mean --features 2,4 --trials 2 --by-layer --quiet ";
  const ProgramRun run = run_croquis(command + "--out all.csv --plot all.svg", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(column_of(folder / "all.csv", "loss").size() == 3 * (1 + 2 * 2 + 2));
  CHECK(croquis::read_csv((folder / "all.summary.csv").string()).rows.size() == 1 + 2 + 2);
  CHECK(croquis::read_csv((folder / "all.layers.csv").string()).rows.size() == 5 * 4);
  CHECK(std::filesystem::file_size(folder / "all.svg") > 1000);
  CHECK(column_of(folder / "all.csv", "tokens").back() == "6");
  const auto losses = column_of(folder / "all.csv", "loss"), status = column_of(folder / "all.csv", "status");
  CHECK(std::all_of(status.begin(), status.end(), [](const std::string& text) { return text == "ok"; }));
  CHECK(std::set<std::string>(losses.begin(), losses.end()).size() == 3 * (1 + 2 * 2 + 1));  // v-mean has no d

  REQUIRE(run_croquis(command + "--threads 1 --out one.csv", folder.path()).status == 0);
  CHECK(column_of(folder / "one.csv", "loss") == losses);
  for (const char* part : {"1", "2"}) {
    REQUIRE(run_croquis(command + "--shard " + part + "/2 --out part" + part + ".csv", folder.path()).status == 0);
  }
  const ProgramRun merged = run_croquis("merge merged.csv part1.csv part2.csv", folder.path());
  REQUIRE_MESSAGE(merged.status == 0, merged.output);
  CHECK(column_of(folder / "merged.csv", "loss") == losses);
  CHECK(read_text(folder / "merged.layers.csv") == read_text(folder / "all.layers.csv"));
  const std::string whole = read_text(folder / "one.csv");
  write_text(folder / "one.csv", whole.substr(0, whole.size() / 2));
  REQUIRE(run_croquis(command + "--resume --out one.csv", folder.path()).status == 0);
  CHECK(column_of(folder / "one.csv", "loss") == losses);
  write_text(folder / "ids.npy", npy_integers("(3, 9)", std::vector<std::int64_t>(27, 1)));
  CHECK(run_croquis(command + "--resume --out one.csv", folder.path()).status == 2);
}

TEST_CASE("model: --layers each and --heads approximate some heads, and their plot is over layers") {
  const FormulaFolder folder;
  const std::string model =
      "model --model gpt2/model.safetensors" + kModelTokens + "--methods v-mean --features 2 --overwrite ";
  REQUIRE(run_croquis(model + "--layers each --heads 1 --plot each.svg --out each.csv", folder.path()).status == 0);
  const auto names = column_of(folder / "each.csv", "layers");
  CHECK(std::set<std::string>(names.begin(), names.end()) == std::set<std::string>{"0;heads=1", "1;heads=1"});
  REQUIRE(run_croquis(model + "--layers 0 --heads 1 --out zero.csv", folder.path()).status == 0);
  CHECK(column_of(folder / "zero.csv", "loss").at(0) == column_of(folder / "each.csv", "loss").at(0));
  REQUIRE(run_croquis(model + "--layers 0 --out both.csv", folder.path()).status == 0);
  CHECK(column_of(folder / "both.csv", "loss") != column_of(folder / "zero.csv", "loss"));
  // A decoder's labels are the next tokens.
  CHECK(column_of(folder / "zero.csv", "counted") == std::vector<std::string>{"8", "8", "5"});
}

TEST_CASE(
    "choose: the saved configuration of a choice by the loss has nothing that has no part in it, and reads back") {
  const FormulaFolder folder;
  const ProgramRun run = run_croquis(
      "choose --target-loss 9 --search-sequences 1 --methods v-mean --features 2 --model bert/model.safetensors "
      "--ids ids.npy --labels ids.npy --lengths lengths.npy --quiet --out a.csv",
      folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  const auto meta = nlohmann::json::parse(read_text(folder / "a.meta.json"));
  const auto configuration = meta["configuration"].get<std::string>();
  for (const char* name : {"\neps=", "\nper=", "\nmetric="}) CHECK(!contains(configuration, name));
  write_text(folder / "a.ini", configuration);
  const std::string rows = read_text(folder / "a.csv");
  const ProgramRun again = run_croquis("--config a.ini choose --quiet --overwrite", folder.path());
  CHECK_MESSAGE(again.status == 0, again.output);
  CHECK(read_text(folder / "a.csv") == rows);
}

TEST_CASE("model: exact attention alone is one sentence and no table; it takes no options and stands there once") {
  const FormulaFolder folder;
  const std::string command = "model --model bert/model.safetensors --out o.csv --features 2 --trials 1" + kLabelled;
  const ProgramRun alone = run_croquis(command + "--methods exact", folder.path());
  REQUIRE_MESSAGE(alone.status == 0, alone.output);
  CHECK(contains(alone.output, "exact attention: loss "));
  CHECK_FALSE(contains(alone.output, "standard error"));
  for (const auto& [methods, says] : {std::pair("exact:foo=1", "--methods: exact takes no options: exact:foo=1"),
                                      std::pair("exact,v-mean,exact", "--methods: 'exact' stands there twice")}) {
    CAPTURE_BINDING(methods);
    const ProgramRun run = run_croquis(command + "--overwrite --methods " + methods, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(contains(run.output, says), run.output);
  }
}

TEST_CASE("model: options of methods are refused where a choice alone says what is replaced") {
  const FormulaFolder folder;
  write_text(folder / "c.json", "[]");
  for (const char* option : {"--layers 0", "--heads 0", "--features 2"}) {
    const ProgramRun run = run_croquis(
        std::string("model --model bert/model.safetensors --choice c.json ") + option + kLabelled, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(contains(run.output, "is of --methods; --choice says itself which heads it replaces"), run.output);
  }
}

TEST_CASE(
    "model: a choice alone has a configuration that makes the same rows, and says whose it is where that is "
    "another's") {
  const FormulaFolder folder;
  choose_for_bert(folder);
  const std::string choice = "model --trials 1 --overwrite --quiet --choice c.json --out m.csv" + kLabelled;
  const ProgramRun own = run_croquis(choice + "--model bert/model.safetensors", folder.path());
  REQUIRE_MESSAGE(own.status == 0, own.output);
  CHECK_FALSE(contains(own.output, "was made for"));
  const auto meta = nlohmann::json::parse(read_text(folder / "m.meta.json"));
  write_text(folder / "m.ini", meta["configuration"].get<std::string>());
  const ProgramRun again = run_croquis("model --config m.ini --overwrite --quiet --out n.csv", folder.path());
  REQUIRE_MESSAGE(again.status == 0, again.output);
  CHECK(column_of(folder / "m.csv", "loss") == column_of(folder / "n.csv", "loss"));
  const ProgramRun other = run_croquis(choice + "--model albert/model.safetensors", folder.path());
  REQUIRE_MESSAGE(other.status == 0, other.output);
  CHECK_MESSAGE(contains(other.output, "--choice was made for the model bert, and this one is albert"), other.output);
}

TEST_CASE("model and choose: --resume and merge notice another choice, other weights and another configuration") {
  const FormulaFolder folder;
  choose_for_bert(folder);
  const auto refused = [&](const std::string& command, const std::string& says) {
    const ProgramRun run = run_croquis(command, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(contains(run.output, says), run.output);
  };
  const std::string of_bert = " --model bert/model.safetensors --quiet" + kLabelled,
                    choice = "model --trials 1 --choice c.json" + of_bert;
  REQUIRE(run_croquis(choice + "--out m.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(choice + "--out one.csv --shard 1/2", folder.path()).status == 0);
  write_text(folder / "c.json", read_text(folder / "c.json") + " ");
  refused(choice + "--out m.csv --resume", "--resume: contents of c.json was ");
  REQUIRE(run_croquis(choice + "--out two.csv --shard 2/2", folder.path()).status == 0);
  refused("merge both.csv one.csv two.csv", "contents of c.json");

  // The last weight is of the language-model head, which no hidden state shows.
  const std::string model = "model --trials 1 --methods v-mean --features 2 --out h.csv" + of_bert,
                    search = "choose --target-loss 9 --search-sequences 1 --methods v-mean --features 2 --out s.csv" +
                             of_bert;
  for (const std::string& command : {model, search}) REQUIRE(run_croquis(command, folder.path()).status == 0);
  const std::string weights = read_text(folder / "bert/model.safetensors");
  std::string other = weights;
  other[other.size() - 2] ^= 1;
  write_text(folder / "bert/model.safetensors", other);
  for (const std::string& command : {model, search}) {
    refused(command + " --resume", "--resume: contents of the model was ");
  }
  write_text(folder / "bert/model.safetensors", weights);
  write_text(folder / "bert/config.json", read_text(folder / "bert/config.json") + "\n");
  refused(model + " --resume", "--resume: contents of the model was ");
}

TEST_CASE("model: where a method fails on some sequences, exact attention is that of all") {
  const FormulaFolder folder;
  const std::string of_all =
      "model --model bert/model.safetensors --trials 1 --features 2 --overwrite --quiet" + kLabelled;
  REQUIRE(run_croquis(of_all + " --methods v-mean --out one.csv", folder.path()).status == 0);
  const std::string exact = column_of(folder / "one.summary.csv", "loss_exact").front();
  // As if another method, which comes first, had failed on all sequences but the first.
  const auto sequences = column_of(folder / "one.csv", "sequence");
  REQUIRE(sequences.size() > 1);
  std::string rows = read_text(folder / "one.csv"), header = rows.substr(0, rows.find('\n') + 1), failed;
  std::istringstream lines(rows.substr(header.size()));
  for (std::string line; std::getline(lines, line);) {
    std::string other = line;
    other.replace(other.find("v-mean"), 6, "linear");
    if (!failed.empty()) other = other.replace(other.rfind("ok"), 2, "not finite");
    failed += other + "\n";
  }
  write_text(folder / "two.csv", header + failed + rows.substr(header.size()));
  const ProgramRun shown = run_croquis("show two.csv", folder.path());
  REQUIRE_MESSAGE(shown.status == 0, shown.output);
  CHECK_MESSAGE(contains(shown.output, fmt::format("With exact attention the loss is {:.4g}", std::stod(exact))),
                shown.output);
}

TEST_CASE("model: a choice and exact attention have no d: they are lines across, and exact attention stands beside") {
  const FormulaFolder folder;
  choose_for_bert(folder);
  const std::string command =
      "model --model bert/model.safetensors --trials 1 --overwrite --out m.csv --plot m.svg" + kLabelled;
  for (const std::string& methods :
       {std::string("--choice c.json"), std::string("--choice c.json --methods v-mean --features 2,4")}) {
    CAPTURE(methods);
    const DrawnPlot plot = drawn_plot(command + methods, folder.path());
    REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
    CHECK(contains(plot.run.output, "choice (c.json)"));
    CHECK(contains(plot.run.output, "increase of the loss over exact attention on the same sequences"));
    CHECK(contains(plot.run.output, "flops of the approximated heads, in units of exact attention's"));
    CHECK(contains(plot.run.output, methods == "--choice c.json"
                                        ? ", the heads that the choice replaces"
                                        : ", layers all, and the heads that the choice replaces"));
    for (const char* label : {"choice (c.json)", "exact attention"})
      CHECK(std::count(plot.legend.begin(), plot.legend.end(), label) == 1);
    const DrawnPlot again = drawn_plot("plot m.csv", folder.path());
    CHECK(again.legend == plot.legend);
    const ProgramRun show = run_croquis("show m.csv", folder.path());
    for (const std::string& output : {plot.run.output, show.output}) CHECK_FALSE(contains(output, "d = 0"));
    CHECK(contains(show.output, "The choice (c.json) has the loss "));
    const auto names = column_of(folder / "m.summary.csv", "method"),
               rises = column_of(folder / "m.summary.csv", "increase");
    const auto choice = std::find(names.begin(), names.end(), "choice") - names.begin();
    const bool less = rises.at(static_cast<std::size_t>(choice)).starts_with('-');
    CHECK(contains(show.output, less ? " below exact attention's" : " above exact attention's"));
    CHECK(contains(show.output, " exact attention\n"));  // a line of the chart
  }
  const DrawnPlot exact = drawn_plot(command + "--methods exact", folder.path());
  CHECK_MESSAGE(exact.run.status == 0, exact.run.output);
  CHECK(exact.legend == std::vector<std::string>{"exact attention"});
}

TEST_CASE("croquis plot: an increase that may be 0 within its error is drawn on an axis with both") {
  TemporaryFolder folder;
  std::string text =
      "model,layers,method,preset,features,trial,seed,sequence,tokens,counted,loss,loss_exact,accuracy,accuracy_exact,"
      "agreement,kl,hidden_rel,seconds,status,flops,flops_exact,precision\n";
  for (const auto& [d, losses] : {std::pair(8, std::pair(0.7, 0.8)), std::pair(16, std::pair(0.504, 0.498))}) {
    for (const int s : {0, 1}) {
      text += fmt::format("m,all,v-mean,paper,{},1,1,{},9,4,{},0.5,1,1,1,0.1,0.1,0.1,ok,10,20,double\n", d, s,
                          s == 0 ? losses.first : losses.second);
    }
  }
  write_text(folder / "m.csv", text);
  const DrawnPlot plot = drawn_plot("plot m.csv --metric increase", folder.path());
  REQUIRE_MESSAGE(plot.run.status == 0, plot.run.output);
  const std::vector<double>& point = plot.curve("v-mean").points.at(1);
  CHECK(point[1] == doctest::Approx(0.001));
  CHECK(point[2] == doctest::Approx(-0.002));  // 0.001 - 0.003
  CHECK(contains(plot.script, "set logscale x\n"));
  CHECK(contains(plot.title, "\nmean over positions, with its standard error between sequences\n"));
  CHECK(std::count(plot.legend.begin(), plot.legend.end(), "exact attention") == 1);
}

TEST_CASE("model input: a head on several sequences is one head") {
  const FormulaFolder folder;
  const std::string command =
      "error --model llama-tied/model.safetensors --methods v-mean --features 2 --overwrite --out e.csv" + kModelTokens;
  const ProgramRun one = run_croquis(command + "--layer 0 --head 0", folder.path());
  CHECK_MESSAGE(contains(one.output,
                         "median over one head on 3 sequences (smallest - largest head on a sequence); one head on 3"),
                one.output);
  const ProgramRun all = run_croquis(command + "--layer all --sequence 0,1", folder.path());
  CHECK_MESSAGE(contains(all.output, "median over 8 heads on 2 sequences"), all.output);
  CHECK(contains(drawn_plot("plot e.csv --statistic mean", folder.path()).title,
                 "mean over 8 heads on 2 sequences; standard error between sequences"));
  CHECK(contains(run_croquis(command + "--layer all --sequence 1", folder.path()).output, "median over 8 heads ("));
}

TEST_CASE("model: a NaN in the head is refused before there are results") {
  const FormulaFolder folder;
  std::string bytes = read_text(folder / "bert/model.safetensors");
  bytes.replace(bytes.size() - 4, 4, std::string("\0\0\xc0\x7f", 4));
  write_text(folder / "bert/model.safetensors", bytes);
  const ProgramRun run =
      run_croquis("model --methods exact --model bert/model.safetensors --out o.csv" + kLabelled, folder.path());
  CHECK(run.status == 2);
  CHECK_MESSAGE(contains(run.output, "cls.predictions."), run.output);
  CHECK_FALSE(std::filesystem::exists(folder / "o.csv"));
  CHECK_FALSE(std::filesystem::exists(folder / "o.meta.json"));
}

TEST_CASE("model: layers whose approximation lowers the loss are drawn too") {
  const FormulaFolder folder;
  REQUIRE(run_croquis("model --model gpt2/model.safetensors" + kModelTokens +
                          "--methods v-mean --features 2 --layers each --out each.csv",
                      folder.path())
              .status == 0);
  croquis::CsvTable table = croquis::read_csv((folder / "each.csv").string());
  const auto place = [&](const char* name) {
    return std::find(table.header.begin(), table.header.end(), name) - table.header.begin();
  };
  for (auto& row : table.rows) row[place("loss")] = "0.5", row[place("loss_exact")] = "0.75";
  std::string text = fmt::format("{}\n", fmt::join(table.header, ","));
  for (const auto& row : table.rows) text += fmt::format("{}\n", fmt::join(row, ","));
  write_text(folder / "lower.csv", text);
  const ProgramRun run = run_croquis("plot lower.csv --out lower.svg", folder.path());
  CHECK_MESSAGE(run.status == 0, run.output);
  CHECK(contains(read_text(folder / "lower.svg"), "-0.25"));  // on the axis
}

TEST_CASE("model: wrong usage and wrong files are one line and status 2") {
  const FormulaFolder folder;
  write_text(folder / "long.npy", npy_integers("(1, 11)", std::vector<std::int64_t>(11, 1)));
  write_text(folder / "beyond.npy", npy_integers("(1, 4)", {1, 11, 2, 3}));
  write_text(folder / "flat.npy", npy_integers("(27,)", std::vector<std::int64_t>(27, 1)));
  write_text(folder / "none.npy", npy_integers("(3, 9)", std::vector<std::int64_t>(27, -100)));
  for (const char* name : {"headless", "narrow", "roberta"}) std::filesystem::create_directory(folder / name);
  FormulaModel model = formula_model("bert");
  write_text(folder / "roberta/model.safetensors", model.file());
  write_text(folder / "roberta/config.json", "{\"model_type\": \"roberta\"}");
  std::erase_if(model.tensors, [](const auto& tensor) { return tensor.first == "cls.predictions.bias"; });
  write_text(folder / "headless/model.safetensors", model.file());
  write_text(folder / "headless/config.json", model.config);
  model = formula_model("gpt2");
  for (auto& [name, shape] : model.tensors) {
    if (name == "transformer.h.1.attn.c_attn.weight") std::swap(shape[0], shape[1]);
  }
  write_text(folder / "narrow/model.safetensors", model.file());
  write_text(folder / "narrow/config.json", model.config);
  const std::string bert = "model --model bert/model.safetensors ",
                    llama = "model --model llama-tied/model.safetensors ";
  const std::pair<std::string, std::string> wrong[] = {
      {"model" + kLabelled, "--model: is missing"},
      {"model --model bert/model.safetensors", "or with --ids ids.npy in place of a text"},
      {bert + kModelTokens, "--labels: a model of type bert predicts masked tokens; give labels.npy"},
      {bert + kModelTokens + "--labels flat.npy", "flat.npy: has shape (1, 27) where ids.npy has (3, 9)"},
      {bert + kModelTokens + "--labels labels.npy --mask 0.2", "--mask: is of a text"},
      {"model --model bert" + kModelTokens + "--labels labels.npy", "--model: bert is a folder; give the file in it"},
      {bert + kModelTokens + "--labels none.npy",
       "none.npy: sequence 0 has no token to be predicted; leave it out with --sequence"},
      {bert + "--ids long.npy --labels long.npy", "--ids: sequence 0 has 11 tokens, the model 9 positions"},
      {bert + "--ids beyond.npy --labels beyond.npy --features 2",
       "beyond.npy: has id 11 of sequence 0 at position 1; the"},
      {"error --ids beyond.npy --model bert/model.safetensors", "beyond.npy: has id 11 of sequence 0 at position 1"},
      {"error --ids long.npy --model bert/model.safetensors", "--ids: sequence 0 has 11 tokens, the model 9 positions"},
      {bert + kLabelled + "--features 7", "--features: 7 is more than the 6 tokens of a sequence"},
      {bert + kLabelled + "--layers 2", "--layers: '2' is none of 0 to 1"},
      {bert + kLabelled + "--heads 2", "--heads: '2' is none of 0 to 1"},
      {bert + kLabelled + "--sequence 3", "--sequence: '3' is none of 0 to 2"},
      {bert + kLabelled + "--text ids.npy", "--text: of a text, --ids has the tokens; leave it out"},
      {bert + kLabelled + "--methods skyformer,nothing", "nothing"},
      {llama + kModelTokens + "--methods nystromformer --features 2", "nystromformer: has no causal form"},
      {llama + "--vocab vocab.txt",
       "--vocab: vocab.txt is of BERT and ALBERT, this model is llama; give its tokenizer.json"},
      {"model --model headless/model.safetensors" + kLabelled, "has no tensor 'cls.predictions.bias'"},
      {"error --model narrow/model.safetensors" + kModelTokens,
       "tensor 'transformer.h.1.attn.c_attn.weight' is [24, 8]; the configuration calls for [8, 24]"},
      {"model --model roberta/model.safetensors" + kLabelled,
       "model_type is 'roberta'; bert, albert, gpt2 and llama are read"},
      {"error --model albert/model.safetensors --join-windows 2" + kModelTokens,
       "--join-windows: 3 sequences are no multiple of 2"},
      {"error --ids ids.npy", "--ids: goes with --input model"},
      {"error --lengths lengths.npy", "--lengths: goes with --ids"},
      {"error --model bert/model.safetensors --n 4" + kModelTokens, "--n: of a text, --ids has the tokens"},
  };
  for (const auto& [arguments, message] : wrong) {
    CAPTURE_BINDING(arguments);
    const ProgramRun run = run_croquis(arguments, folder.path());
    CHECK(run.status == 2);
    CHECK_MESSAGE(std::count(run.output.begin(), run.output.end(), '\n') == 1, run.output);
    CHECK_MESSAGE(run.output.find(message) != std::string::npos, run.output);
  }
}

TEST_CASE(
    "croquis show and report of losses: a lead that differences on the same sequences do not bear out is not clear") {
  const TemporaryFolder folder;
  write_text(folder / "m.csv", losses_of_three_methods(3));
  const ProgramRun shown = run_croquis("show m.csv", folder.path());
  REQUIRE_MESSAGE(shown.status == 0, shown.output);
  CHECK(contains(shown.output, "At d = 16, performer has the smallest loss: 2.2"));
  CHECK_MESSAGE(contains(shown.output, "It has no clear lead over skeinformer: on the same sequences"), shown.output);
  CHECK_FALSE(contains(shown.output, "band"));  // characters have none
  CHECK_FALSE(contains(shown.output, "one sequence"));
  // Exact attention is a line across in the picture; its ends are no numbers of its own.
  REQUIRE(run_croquis("report m.csv --out m.html", folder.path()).status == 0);
  const std::string page = read_text(folder / "m.html");
  // With one d there are bars alone: the line across has no spread.
  CHECK(contains(page, "mean over positions; bar: one standard error between sequences"));
  const std::size_t numbers = page.find("Loss of the model: the numbers"), row = page.find("exact attention", numbers);
  REQUIRE(row != std::string::npos);
  const std::string cells = page.substr(row, page.find("</tr>", row) - row);
  CHECK_FALSE(contains(cells, "3000"));
  CHECK_FALSE(contains(cells, "500"));
  CHECK(page.find("exact attention</th>", row + 1) > page.find("</table>", row));
}

TEST_CASE("croquis show and report of losses: on one sequence a lead may be chance, and there is no band") {
  const TemporaryFolder folder;
  write_text(folder / "m.csv", losses_of_three_methods(1));
  const ProgramRun shown = run_croquis("show m.csv", folder.path());
  REQUIRE_MESSAGE(shown.status == 0, shown.output);
  REQUIRE(run_croquis("report m.csv --out m.html", folder.path()).status == 0);
  for (const std::string& text : {shown.output, read_text(folder / "m.html")}) {
    CHECK(contains(text, "At d = 16, performer has the smallest loss: 1.2, 0.2 above exact attention"));
    CHECK(contains(text, "On one sequence: a lead may be chance."));
    CHECK(contains(text, "mean over positions"));
    CHECK_FALSE(contains(text, "standard error between sequences to each side"));
    CHECK_FALSE(contains(text, "(standard error between sequences)"));
    CHECK_FALSE(contains(text, "no clear lead"));
  }
}
