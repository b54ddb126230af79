// croquis model, and the heads of models on token ids.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/csv.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/capture.hpp"
#include "support/files.hpp"
#include "support/formula_model.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace {

// Each model of torch_reference.txt in a folder of its name, with the sequence that PyTorch read, and shorter ones.
struct FormulaFolder : TemporaryFolder {
  FormulaFolder() {
    for (const FormulaModel& model : formula_models()) {
      std::filesystem::create_directory(path() / model.name);
      write_text(path() / model.name / "model.safetensors", model.file());
      write_text(path() / model.name / "config.json", model.config);
    }
    const std::vector<std::int64_t> ids = {3, 1, 4, 1, 5, 9, 2, 6, 10, 2, 7, 1, 8, 2,
                                           8, 1, 8, 2, 6, 6, 6, 0, 1,  2, 0, 0, 0};
    std::vector<std::int64_t> labels = {7, -100, 0, 10, -100, 5, 2, 1, -100};
    labels.resize(27, 3);
    write_text(path() / "ids.npy", npy_integers("(3, 9)", ids));
    write_text(path() / "labels.npy", npy_integers("(3, 9)", labels));
    write_text(path() / "lengths.npy", npy_integers("(3,)", {9, 9, 6}));
  }
};

const std::string kModelTokens = " --ids ids.npy --lengths lengths.npy ";
const std::string kLabelled = kModelTokens + "--labels labels.npy ";

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

TEST_CASE("model: sequences that end in the model's padding are named where their lengths are not given") {
  const FormulaFolder folder;
  std::string config = read_text(folder / "bert/config.json");
  config.insert(config.find('{') + 1, "\"pad_token_id\": 0, ");
  write_text(folder / "bert/config.json", config);
  std::vector<std::int64_t> ids(27, 1);
  ids[8] = ids[26] = 0;
  write_text(folder / "padded.npy", npy_integers("(3, 9)", ids));
  const std::string command =
      "model --model bert/model.safetensors --ids padded.npy --labels labels.npy --methods exact --quiet --overwrite ";
  const ProgramRun without = run_croquis(command, folder.path()),
                   with = run_croquis(command + "--lengths lengths.npy", folder.path());
  CHECK(without.status == 0);
  CHECK(contains(without.output, "padded.npy: 2 of 3 sequences end in token 0, the model's padding"));
  CHECK(with.status == 0);
  CHECK(with.output ==
        "croquis: lengths.npy: 1 of 3 sequences have others than token 0, the model's padding, beyond their length, "
        "which are not read\n");
  const ProgramRun right = run_croquis(command + "--lengths lengths.npy --sequence 0-1", folder.path());
  CHECK(right.status == 0);
  CHECK(right.output.empty());
  std::fill_n(ids.begin() + 9, 3, 0);  // padded on the left
  write_text(folder / "padded.npy", npy_integers("(3, 9)", ids));
  write_text(folder / "six.npy", npy_integers("(3,)", {8, 6, 8}));
  const ProgramRun left = run_croquis(command + "--lengths six.npy --sequence 0-1", folder.path());
  CHECK(left.status == 0);
  CHECK(contains(left.output,
                 "croquis: padded.npy: 1 of 2 sequences begin with token 0, the model's padding, and count it as text; "
                 "if it is padding, pad on the right\n"));
  CHECK(contains(left.output, "croquis: six.npy: 1 of 2 sequences have others than token 0"));
}

TEST_CASE("model: labels of a decoder that repeat the ids are refused, those of an encoder are not") {
  const FormulaFolder folder;
  const std::string same =
      "/model.safetensors --ids ids.npy --labels ids.npy --lengths lengths.npy --quiet --overwrite ";
  const std::string said =
      "--labels: ids.npy repeats the ids, and labels of a decoder are the next tokens; leave --labels out, or shift "
      "them "
      "by one\n";
  for (const std::string model : {"gpt2", "llama-tied"}) {
    const ProgramRun run = run_croquis("model --methods exact --model " + model + same, folder.path());
    CHECK(run.status == 2);
    CHECK(run.output.ends_with(said));
    CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
    const ProgramRun choose =
        run_croquis("choose --target-loss 0.1 --methods v-mean --features 2 --model " + model + same, folder.path());
    CHECK(choose.status == 2);
    CHECK_MESSAGE(choose.output.ends_with(said), choose.output);
  }
  CHECK(run_croquis("model --methods exact --model bert" + same, folder.path()).status == 0);
  // The ids shifted by one are the default.
  write_text(folder / "next.npy", npy_integers("(3, 9)", {1, 4, 1, 5,    9, 2, 6, 10, -100, 7,    1, 8, 2, 8,
                                                          1, 8, 2, -100, 6, 6, 0, 1,  2,    -100, 0, 0, 0}));
  const std::string gpt2 =
      "model --methods exact --model gpt2/model.safetensors --ids ids.npy --lengths lengths.npy "
      "--quiet --overwrite ";
  REQUIRE(run_croquis(gpt2 + "--labels next.npy --out shifted.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(gpt2 + "--out default.csv", folder.path()).status == 0);
  const auto shifted = column_of(folder / "shifted.csv", "loss"), next = column_of(folder / "default.csv", "loss");
  REQUIRE(shifted.size() == 3);
  for (std::size_t s = 0; s < 3; ++s) CHECK(std::abs(std::stod(shifted[s]) / std::stod(next[s]) - 1) <= 1e-12);
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

TEST_CASE("model: the text of a vocabulary is masked with the seed") {
  const FormulaFolder folder;
  write_text(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\ne\nf\n");
  write_text(folder / "text.txt", "a b c d e f a b c d e f a c e b d f a a");
  const std::string command =
      "model --model bert/model.safetensors --vocab vocab.txt --text text.txt --n 18 --mask 0.4 --methods exact "
      "--overwrite --quiet ";
  const ProgramRun run = run_croquis(command + "--out a.csv", folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(column_of(folder / "a.csv", "tokens") == std::vector<std::string>{"9", "9"});
  CHECK(column_of(folder / "a.csv", "counted") == std::vector<std::string>{"3", "3"});  // of seven
  REQUIRE(run_croquis(command + "--seed 2 --out b.csv", folder.path()).status == 0);
  CHECK(column_of(folder / "a.csv", "loss") != column_of(folder / "b.csv", "loss"));
  // One token at least, and no special ones: x is [UNK].
  write_text(folder / "text.txt", "x x a x [PAD] [MASK] x x x x b x x x");
  const std::string other =
      "model --model bert/model.safetensors --vocab vocab.txt --text text.txt --n 18 --methods exact --overwrite "
      "--quiet --mask ";
  for (const std::string share : {"0", "1"}) {
    REQUIRE(run_croquis(other + share + " --out c.csv", folder.path()).status == 0);
    CHECK(column_of(folder / "c.csv", "counted") == std::vector<std::string>{"1", "1"});
  }
  write_text(folder / "text.txt", "a b c d e f a x x x x x x x");
  const ProgramRun none = run_croquis(other + "1", folder.path());
  CHECK(none.status == 2);
  CHECK(contains(none.output,
                 "--text, --n: a window has special tokens alone, as [CLS] and [UNK], which are not masked"));
}

TEST_CASE("model: a decoder reads a text by its tokenizer.json, and predicts the next tokens") {
  const FormulaFolder folder;
  write_text(folder / "tokenizer.json",
             R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"c":2,"ab":3},"merges":["a b"]},)"
             R"("pre_tokenizer":{"type":"Split","pattern":{"String":" "},"behavior":"Removed"}})");
  write_text(folder / "text.txt", "ab c a b ab cab a ab ab c b a");
  const std::string command = " --model gpt2/model.safetensors --vocab tokenizer.json --text text.txt --n 12 --quiet ";
  const ProgramRun run = run_croquis("model --methods exact --out a.csv" + command, folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(column_of(folder / "a.csv", "counted") == std::vector<std::string>{"8", "2"});  // windows of 9 and 3
  REQUIRE(run_croquis("error --methods v-mean --features 2 --out e.csv" + command, folder.path()).status == 0);
  CHECK(column_of(folder / "e.csv", "n").at(0) == "12");
}

TEST_CASE("model input: heads of sequences, in columns; several joined to one head; causal where the model is") {
  const FormulaFolder folder;
  const std::string rest = kModelTokens + "--methods v-mean --features 2 --quiet --overwrite --out e.csv ";
  REQUIRE(run_croquis("error --model llama-tied/model.safetensors --layer all" + rest, folder.path()).status == 0);
  CHECK(column_of(folder / "e.csv", "input").size() == 3 * 2 * 4);
  CHECK(column_of(folder / "e.csv", "input").at(9) == "model:llama-tied;sequence=1;layer=0;head=1;causal");
  CHECK(column_of(folder / "e.csv", "sequence").at(9) == "1");
  CHECK(column_of(folder / "e.csv", "n").back() == "5");
  REQUIRE(run_croquis("error --model albert/model.safetensors --sequence 0,1 --join-windows 2 --head 0" + rest,
                      folder.path())
              .status == 0);
  CHECK(column_of(folder / "e.csv", "input") == std::vector<std::string>{"model:albert;sequence=0-1;layer=0;head=0"});
  CHECK(column_of(folder / "e.csv", "n") == std::vector<std::string>{"18"});
  for (const std::string command : {"spectrum --matrices bv", "dimension --trials 0 --epsilons 0.5"}) {
    CAPTURE(command);
    const ProgramRun run = run_croquis(
        command + " --model gpt2/model.safetensors --sequence 0" + kModelTokens + "--quiet --overwrite --out s.csv",
        folder.path());
    CHECK_MESSAGE(run.status == 0, run.output);
    CHECK(column_of(folder / "s.csv", "sequence").at(0) == "0");
  }
  REQUIRE(
      run_croquis("error --n 16 --p 4 --join-windows 3 --methods v-mean --features 2 --quiet --overwrite --out t.csv",
                  folder.path())
          .status == 0);
  CHECK(column_of(folder / "t.csv", "n") == std::vector<std::string>{"48"});
  CHECK(column_of(folder / "t.csv", "input") == std::vector<std::string>{"text:sample;windows=3"});
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
