// Inputs of a trained BERT and of WordPiece tokens.
#include <doctest/doctest.h>
#include <croquis/io/csv.hpp>
#include <croquis/models/model.hpp>
#include <croquis/models/wordpiece.hpp>

#include <algorithm>
#include <set>
#include <string>

#include "support/array_files.hpp"
#include "support/bert_model.hpp"
#include "support/capture.hpp"
#include "support/program.hpp"

namespace {

const std::string kVocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##a\nb\n##b\nc\nA\n,\n";
const std::string kText = "a, ab b c A ba aab c. b a b c A, a b\n";
// Not random: draws depend on the kind of input.
const std::string kBertOptions = " --methods v-mean,best-rank-d,nystromformer --features 2 --quiet ";

struct BertFolder : TemporaryFolder {
  BertModel model{"program"};

  BertFolder() {
    std::filesystem::create_directory(path() / "tiny");
    write_text(path() / "tiny/model.safetensors", model.file("F16", "bert."));
    write_text(path() / "tiny/config.json", model.configuration());
    write_text(path() / "vocab.txt", kVocabulary);
    write_text(path() / "text.txt", kText);
  }
};

const std::string kBertModel = "--model tiny/model.safetensors --vocab vocab.txt --text text.txt ";

}  // namespace

TEST_CASE("model: every head of every layer has the rows that its Q, K and V have as arrays") {
  const BertFolder folder;
  const ProgramRun run =
      run_croquis("error " + kBertModel + "--n 17 --layer all --plot e.svg --out e.csv" + kBertOptions, folder.path());
  REQUIRE_MESSAGE(run.status == 0, run.output);
  CHECK(croquis::read_csv((folder / "e.csv").string()).rows.size() == 3 * 2 * 3);
  const croquis::Model encoder(croquis::ModelWeights((folder / "tiny/model.safetensors").string()),
                               folder.model.config);
  const croquis::WordPiece vocabulary((folder / "vocab.txt").string());
  const croquis::TokenIds ids = croquis::bert_sequence(vocabulary, kText, 17, 7);
  croquis::ModelHeads heads(encoder, [&](arma::uword) { return croquis::in_windows(ids, 7); });
  for (const auto& [layer, head] : {std::pair<int, int>(0, 0), {0, 1}, {2, 0}, {2, 1}}) {
    const croquis::Problem<double> problem = heads.head(0, layer, head);
    write_arrays(folder, problem.Q(), problem.K(), problem.V());
    REQUIRE(run_croquis("error --q q.npy --k k.npy --v v.npy --overwrite --out one.csv" + kBertOptions, folder.path())
                .status == 0);
    const auto alone = rows_of(folder / "one.csv", "arrays:q");
    CHECK(alone.size() == 3);
    CHECK(rows_of(folder / "e.csv", "model:tiny;layer=" + std::to_string(layer) + ";head=" + std::to_string(head)) ==
          alone);
  }
}

TEST_CASE("model: chosen layers and heads, a configuration elsewhere, one layer for sketch, resuming") {
  const BertFolder folder;
  std::filesystem::rename(folder / "tiny/config.json", folder / "sizes.json");
  std::filesystem::rename(folder / "tiny/model.safetensors", folder / "small.safetensors");
  const std::string model = "--model small.safetensors --model-config sizes.json --vocab vocab.txt --text text.txt ";
  const std::string error = "error " + model + "--n 9 --layer 2,0 --head 1 --out e.csv" + kBertOptions;
  REQUIRE(run_croquis(error, folder.path()).status == 0);
  CHECK(croquis::read_csv((folder / "e.csv").string()).rows.size() == 6);
  CHECK(rows_of(folder / "e.csv", "model:small;layer=2;head=1").size() == 3);
  const std::string whole = read_text(folder / "e.csv");
  write_text(folder / "e.csv", whole.substr(0, whole.size() / 2));
  REQUIRE(run_croquis(error + "--resume", folder.path()).status == 0);
  CHECK(rows_of(folder / "e.csv", "model:small;layer=0;head=1").size() == 3);
  const ProgramRun sketch = run_croquis(
      "sketch --input model " + model + "--n 9 --head 0 --matrix q --features 4 --trials 2 --quiet", folder.path());
  CHECK_MESSAGE(sketch.status == 0, sketch.output);
}

TEST_CASE("model: ranges of layers and heads, a sample of them, and the columns layer and head of every command") {
  const BertFolder folder;
  const std::string model = kBertModel + "--n 17 --layer 0-1,2 --head 0-1 --quiet --overwrite --out e.csv ";
  for (const std::string& command :
       {"error " + model + "--methods v-mean --features 2", "spectrum " + model + "--matrices bv",
        "sketch " + model + "--matrix q --sketches srht --landmarks uniform --features 2 --trials 1",
        "dimension --n 17 " + kBertModel + "--layer all --quiet --overwrite --out e.csv --trials 2"}) {
    CAPTURE(command);
    const ProgramRun run = run_croquis(command, folder.path());
    REQUIRE_MESSAGE(run.status == 0, run.output);
    const croquis::CsvTable table = croquis::read_csv((folder / "e.csv").string());
    const std::size_t layer = table.column("layer");
    CHECK(table.header[layer - 1] == "status");
    CHECK(table.header[layer + 1] == "head");
    std::set<std::string> names;
    for (const auto& row : table.rows) {
      names.insert(row[table.column("input")]);
      CHECK(row[table.column("input")] == "model:tiny;layer=" + row[layer] + ";head=" + row[layer + 1]);
    }
    CHECK(names.size() == 3 * 2);
  }
  REQUIRE(run_croquis("error " + model + "--methods v-mean --features 2 --head-sample 4", folder.path()).status == 0);
  CHECK(croquis::read_csv((folder / "e.csv").string()).rows.size() == 4);
}

TEST_CASE("text: WordPiece tokens of a vocabulary, cased and uncased") {
  const BertFolder folder;
  const std::string text = "error --text text.txt --p 4 --n 22 --out e.csv --overwrite ";
  REQUIRE(run_croquis(text + "--vocab vocab.txt" + kBertOptions, folder.path()).status == 0);
  const auto cased = rows_of(folder / "e.csv", "text:text;vocab=vocab");
  CHECK(cased.size() == 3);
  REQUIRE(run_croquis(text + "--vocab vocab.txt --uncased" + kBertOptions, folder.path()).status == 0);
  const auto uncased = rows_of(folder / "e.csv", "text:text;vocab=vocab");
  CHECK(uncased.size() == 3);
  CHECK(cased != uncased);
}

TEST_CASE("text: a vocabulary of the other case than --uncased says, or that has not the words, is remarked on") {
  const BertFolder folder;
  write_text(folder / "lower.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##a\nb\n##b\nc\n[unused1]\n,\n");
  write_text(folder / "other.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nd\n##d\ne\nf\ng\nh\nA\n");
  write_text(folder / "marks.txt", "a [MASK] b c[UNK] a b c a b c a b c a b c a b c a b c");
  const std::string missing =
      "croquis: --vocab: lower.txt has no capital letters and the text has; words with them are [UNK] without "
      "--uncased\n";
  const std::string wrong =
      "croquis: --uncased: vocab.txt has capital letters, which are then not used; leave --uncased out if the model is "
      "a cased one\n";
  const std::pair<const char*, std::string> cases[] = {{"text.txt --vocab lower.txt", missing},
                                                       {"text.txt --vocab lower.txt --uncased", ""},
                                                       {"text.txt --vocab vocab.txt", ""},
                                                       {"text.txt --vocab vocab.txt --uncased", wrong},
                                                       {"marks.txt --vocab lower.txt", ""}};
  for (const char* input : {"--p 4", "--model tiny/model.safetensors"}) {
    CAPTURE_BINDING(input);
    for (const auto& [options, said] : cases) {
      CAPTURE_BINDING(options);
      const ProgramRun run = run_croquis(
          std::string("error ") + input + " --n 17 --methods v-mean --features 2 --quiet --overwrite --text " + options,
          folder.path());
      CHECK(run.status == 0);
      CHECK(run.output == said);
    }
    const ProgramRun run = run_croquis(std::string("error ") + input +
                                           " --n 17 --methods v-mean --features 2 --quiet --overwrite --text marks.txt "
                                           "--vocab other.txt",
                                       folder.path());
    CHECK(run.status == 0);
    CHECK(contains(run.output, " % of the tokens of the text are [UNK]; is other.txt the vocabulary of the model?\n"));
  }
}

TEST_CASE("model: wrong usage and wrong files are one line and status 2") {
  const BertFolder folder;
  write_text(folder / "big.txt", kVocabulary + "d\ne\nf\ng\nh\ni\nj\nk\nl\n");
  write_text(folder / "no-cls.txt", "[UNK]\na\n");
  BertModel short_model = folder.model;
  short_model.tensors.erase("encoder.layer.1.output.dense.bias");
  std::filesystem::create_directory(folder / "short");
  write_text(folder / "short/model.safetensors", short_model.file("F32", ""));
  write_text(folder / "short/config.json", folder.model.configuration());
  std::filesystem::create_directory(folder / "silu");
  write_text(folder / "silu/model.safetensors", folder.model.file("F32", ""));
  write_text(folder / "silu/config.json", folder.model.configuration({{"hidden_act", "\"mish\""}}));
  std::filesystem::copy(folder / "tiny/model.safetensors", folder / "alone.safetensors");
  const std::string rest = " --vocab vocab.txt --text text.txt --n 17";
  const std::pair<std::string, std::string> wrong[] = {
      {"error --input model", "--model: is missing"},
      {"error --model tiny/model.safetensors", "--model: goes with --vocab vocab.txt"},
      {"error --vocab vocab.txt --input gaussian", "--vocab: goes with --input text and model, this is"},
      {"error --input text --model tiny/model.safetensors", "--model: goes with --input model"},
      {"error --layer 1", "--layer: goes with --input model"},
      {"error --head 1", "--head: goes with --input arrays and model"},
      {"error --uncased", "--uncased: goes with --vocab"},
      {"error " + kBertModel + "--p 4", "--p: the model has its width"},
      {"error " + kBertModel + "--length 9", "--length: the text of a model has no padding"},
      {"error " + kBertModel + "--norm 2", "--norm: goes with"},
      {"error " + kBertModel + "--token-type", "--token-type: goes with --input text"},
      {"error " + kBertModel + "--layer 3", "--layer: '3' is none of 0 to 2"},
      {"error " + kBertModel + "--head -1", "--head: '-1' is none of 0 to 1"},
      {"error " + kBertModel + "--n 170", "--n: the text has "},
      {"error " + kBertModel + "--n 0", "--n: '0' is not a whole number from 1"},
      {"error --model none/model.safetensors" + rest, "--model: there is no file none/model.safetensors"},
      {"error --model none.safetensors --model-config tiny/config.json" + rest, "none.safetensors: cannot be opened"},
      {"error --model alone.safetensors" + rest, "--model-config: there is no config.json beside alone.safetensors"},
      {"error --model vocab.txt --model-config tiny/config.json" + rest, "vocab.txt: is not a safetensors file"},
      {"error --model alone.safetensors --model-config vocab.txt" + rest, "vocab.txt: is no config.json"},
      {"error --model silu/model.safetensors" + rest, "silu/config.json: hidden_act 'mish' is none of gelu"},
      {"error --model short/model.safetensors" + rest, "has no tensor 'encoder.layer.1.output.dense.bias'"},
      {"error --model tiny/model.safetensors --vocab text.txt", "text.txt: is no WordPiece vocabulary"},
      {"error --model tiny/model.safetensors --vocab tiny/model.safetensors", "is not UTF-8 text"},
      {"error --model tiny/model.safetensors --vocab no-cls.txt --n 9",
       "no-cls.txt: has no line [CLS], which a BERT reads"},
      {"error --model tiny/model.safetensors --vocab big.txt --text text.txt --n 17",
       "--vocab: big.txt has 21 entries, the model 20 word embeddings"},
      {"error --model tiny/model.safetensors --vocab vocab.txt --text none.txt", "--text: none.txt: cannot be opened"},
  };
  for (const auto& [arguments, message] : wrong) {
    CAPTURE_BINDING(arguments);
    const ProgramRun run = run_croquis(arguments, folder.path());
    CHECK(run.status == 2);
    CHECK(std::count(run.output.begin(), run.output.end(), '\n') == 1);
    CHECK_MESSAGE(run.output.find(message) != std::string::npos, run.output);
  }
}
