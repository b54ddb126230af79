// The tokens that croquis model, and the heads of models, are about: ids, texts, masks, labels.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "apps/formula_folder.hpp"
#include "support/capture.hpp"
#include "support/files.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

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
  // What is refused has no remarks before it.
  for (const auto& [option, message] :
       {std::pair("--layers 9", "--layers: '9' is none of 0 to 1"), {"--heads echa", "--heads: 'echa' is none of"}}) {
    const ProgramRun refused = run_croquis(command + option, folder.path());
    CHECK(refused.status == 2);
    CHECK_MESSAGE(contains(refused.output, message), refused.output);
    CHECK_FALSE(contains(refused.output, "padding"));
  }
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

TEST_CASE("model: sequences that are chosen are those of their numbers, and other labels are another run") {
  const FormulaFolder folder;
  const std::string run = "model --model bert/model.safetensors --methods exact --quiet" + kLabelled;
  REQUIRE(run_croquis(run + "--out all.csv", folder.path()).status == 0);
  REQUIRE(run_croquis(run + "--out some.csv --sequence 2,1", folder.path()).status == 0);
  const auto all = column_of(folder / "all.csv", "loss"), some = column_of(folder / "some.csv", "loss");
  REQUIRE(all.size() == 3);
  CHECK(all[0] != all[1]);
  CHECK(all[0] != all[2]);
  CHECK(some == std::vector<std::string>{all[2], all[1]});
  CHECK(column_of(folder / "some.csv", "sequence") == std::vector<std::string>{"2", "1"});
  std::vector<std::int64_t> labels = {8, -100, 0, 10, -100, 5, 2, 1, -100};  // 7 before
  labels.resize(27, 3);
  write_text(folder / "labels.npy", npy_integers("(3, 9)", labels));
  const ProgramRun other = run_croquis(run + "--out all.csv --resume", folder.path());
  CHECK(other.status == 2);
  CHECK_MESSAGE(contains(other.output, "--resume: tokens and labels (digest) was "), other.output);
  // Where the sequences are not as many, or not as long, the line says so.
  write_text(folder / "labels.npy", npy_integers("(2, 9)", {labels.begin(), labels.begin() + 18}));
  write_text(folder / "ids.npy", npy_integers("(2, 9)", std::vector<std::int64_t>(18, 5)));
  write_text(folder / "lengths.npy", npy_integers("(2,)", {9, 9}));
  const ProgramRun fewer = run_croquis(run + "--out all.csv --resume", folder.path());
  CHECK(fewer.status == 2);
  CHECK_MESSAGE(contains(fewer.output, "--resume: number of sequences was 3 and is 2 now;"), fewer.output);
  REQUIRE(run_croquis(run + "--out two.csv", folder.path()).status == 0);
  write_text(folder / "lengths.npy", npy_integers("(2,)", {9, 8}));
  const ProgramRun shorter = run_croquis(run + "--out two.csv --resume", folder.path());
  CHECK(shorter.status == 2);
  CHECK_MESSAGE(contains(shorter.output, "--resume: number of tokens was 18 and is 17 now;"), shorter.output);
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
  // The model sees [MASK] in the place of what it predicts, as where ids and labels say the same.
  write_text(folder / "text.txt", "a b c d e f a");
  write_text(folder / "masked.npy", npy_integers("(1, 9)", {2, 4, 4, 4, 4, 4, 4, 4, 3}));
  write_text(folder / "words.npy", npy_integers("(1, 9)", {-100, 5, 6, 7, 8, 9, 10, 5, -100}));
  const std::string exact = "model --model bert/model.safetensors --methods exact --quiet --out ";
  REQUIRE(run_croquis(exact + "all.csv --vocab vocab.txt --text text.txt --n 9 --mask 1", folder.path()).status == 0);
  REQUIRE(run_croquis(exact + "ids.csv --ids masked.npy --labels words.npy", folder.path()).status == 0);
  CHECK(column_of(folder / "all.csv", "counted") == std::vector<std::string>{"7"});
  CHECK(column_of(folder / "all.csv", "loss") == column_of(folder / "ids.csv", "loss"));
  // Of two windows that are the same, other tokens are masked.
  write_text(folder / "text.txt", "a b c d e f a a b c d e f a");
  REQUIRE(run_croquis(command + "--out s.csv", folder.path()).status == 0);
  const std::vector<std::string> losses = column_of(folder / "s.csv", "loss");
  REQUIRE(losses.size() == 2);
  CHECK(losses[0] != losses[1]);
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

TEST_CASE("model: a last window that has room for the template alone is refused, and one token more is not") {
  const FormulaFolder folder;
  write_text(folder / "tokenizer.json",
             R"({"model":{"type":"BPE","vocab":{"a":0,"b":1,"<s>":2},"merges":[]},)"
             R"("post_processor":{"type":"TemplateProcessing","special_tokens":{"<s>":{"id":"<s>","ids":[2],)"
             R"("tokens":["<s>"]}},"single":[{"SpecialToken":{"id":"<s>"}},{"Sequence":{"id":"A"}},)"
             R"({"SpecialToken":{"id":"<s>"}}]}})");
  write_text(folder / "text.txt", std::string(100, 'a'));
  const auto run_of = [&](const std::string& n) {
    return run_croquis(
        "model --methods exact --model gpt2/model.safetensors --vocab tokenizer.json --text text.txt "
        "--quiet --overwrite --out a.csv --n " +
            n,
        folder.path());
  };
  // Windows of nine, two of which are the template.
  const std::pair<std::string, std::string> refused[] = {
      {"1", "--n: leaves 1 token for the last window, of which the template takes 2; give --n 3"},
      {"2", "--n: leaves 2 tokens for the last window, of which the template takes 2; give --n 3"},
      {"10", "--n: leaves 1 token for the last window, of which the template takes 2; give --n 9 or --n 12"},
      {"20", "--n: leaves 2 tokens for the last window, of which the template takes 2; give --n 18 or --n 21"}};
  for (const auto& [n, message] : refused) {
    CAPTURE_BINDING(n);
    const ProgramRun run = run_of(n);
    CHECK(run.status == 2);
    CHECK_MESSAGE(contains(run.output, message), run.output);
  }
  for (const std::string n : {"3", "9", "12", "18", "21"}) {
    const ProgramRun run = run_of(n);
    CHECK_MESSAGE(run.status == 0, run.output);
  }
  // Fourteen tokens of text fill two windows; of a text that ends there, more cannot be had.
  write_text(folder / "text.txt", std::string(14, 'a'));
  const ProgramRun ended = run_of("20");
  CHECK(ended.status == 2);
  CHECK_MESSAGE(contains(ended.output, "--n: the text has 18 tokens, 20 are wanted"), ended.output);
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
