// Every option of every command, as --help lists them, with values that it should not have: one clear line and status
// 2, or rows of finite numbers or with a reason.
#include <doctest/doctest.h>
#include <croquis/io/npy.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "support/bert_model.hpp"
#include "support/formula_model.hpp"
#include "support/npy_files.hpp"
#include "support/tries.hpp"

namespace {

struct Option {
  std::string name, help;
  bool takes_value = false;
  bool may_be_file = false;  // neither a number nor one of a few words
};

// The options that `croquis COMMAND --help` lists: "  --name TYPE...   help", the help perhaps on the next line.
std::vector<Option> options_of(const std::string& command, const TemporaryFolder& folder) {
  std::vector<Option> options;
  std::istringstream help(run_process({command, "--help"}, folder.path()).output);
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("  --")) {
      const std::size_t end = line.find(' ', 2), next = line.find_first_not_of(' ', end);
      const bool takes_value = next == end + 1;
      const bool text = takes_value && line.compare(next, 4, "TEXT") == 0 && line.compare(next, 6, "TEXT:{") != 0;
      options.push_back(
          {line.substr(2, end - 2), next == std::string::npos ? "" : line.substr(next), takes_value, text});
    } else if (!options.empty() && line.starts_with("      ")) {
      options.back().help += line;
    }
  }
  return options;
}

// A command that works and takes a hundredth of a second.
struct Command {
  std::string name, options;  // what it is given beside the option that is tried
};

const Command kCommands[] = {
    {"error", "--input gaussian --n 12 --p 4 --methods v-mean,skyformer --features 4 --trials 2"},
    {"verify", "--input gaussian --n 12 --p 4 --claims sky.conditioning --quick"},
    {"variance", "--p 4 --keys 8 --norms 1 --features 4 --trials 2"},
    {"cost", "--n 16 --p 4 --features 4 --methods skyformer --repeats 1 --warmup 0"},
    {"sketch",
     "--input gaussian --n 12 --p 4 --features 4 --trials 2 --sketches gaussian --landmarks uniform --rank 2"},
    {"spectrum", "--input gaussian --n 12 --p 4"},
    {"dimension", "--input gaussian --n 12 --p 4 --trials 2"},
    {"choose", "--input gaussian --n 12 --p 4 --features 4 --methods v-mean,skyformer-softmax --max-cost 9 --trials 9"},
    {"gradient", "--input gaussian --n 12 --p 4 --methods v-mean,skyformer --features 4 --trials 2"},
    {"model",
     "--model head.safetensors --model-config head.json --ids ids.npy --lengths lengths.npy --labels labels.npy "
     "--methods v-mean,linformer --features 4 --trials 2"},
};

std::string options_of_models(const Command& command, const std::string& option) {
  const std::string model = "--model head.safetensors --model-config head.json --methods v-mean --features 4";
  if (option == "--mask") return model + " --vocab vocab.txt --text text.txt --n 9";
  if (option == "--choice")
    return "--model head.safetensors --model-config head.json --ids ids.npy --labels labels.npy";
  return command.options;
}

// What goes with an option so that its value is looked at, in place of Command::options.
std::string context_of(const Command& command, const std::string& option) {
  static const std::map<std::string, std::string> contexts = {
      {"--clusters", "--input clustered --n 12 --p 4"},
      {"--spread", "--input clustered --n 12 --p 4"},
      {"--tail", "--input heavy-norms --n 12 --p 4"},
      {"--token-rank", "--input low-rank --n 12 --p 4"},
      {"--distinct", "--input duplicates --n 12 --p 4"},
      {"--text", "--n 12 --p 4"},
      {"--vocab", "--text text.txt --n 12 --p 4"},
      {"--q", "--k good.npy --v good.npy"},
      {"--k", "--q good.npy --v good.npy"},
      {"--v", "--q good.npy --k good.npy"},
      {"--qkv", ""},
      {"--model", "--vocab vocab.txt --text text.txt --n 12 --model-config config.json"},
      {"--model-config", "--model model.safetensors --vocab vocab.txt --text text.txt --n 12"},
      {"--layer", "--model model.safetensors --vocab vocab.txt --text text.txt --n 12"},
      {"--head", "--model model.safetensors --vocab vocab.txt --text text.txt --n 12"},
      {"--head-sample", "--model model.safetensors --vocab vocab.txt --text text.txt --n 12"},
      {"--bias", "--input gaussian --n 12 --p 4 --causal"},
      {"--probes", "--input gaussian --n 12 --p 4 --method lanczos --leading 2"},
      {"--kernel", "--matrix good.npy --bandwidth 1 --features 4 --trials 2 --sketches gaussian --landmarks uniform"},
      {"--bandwidth", "--matrix good.npy --kernel laplace --features 4 --trials 2 --sketches gaussian"},
      {"--product", "--matrix good.npy --features 4 --trials 2 --sketches gaussian --landmarks none"},
      {"--leading", "--input gaussian --n 12 --p 4 --method lanczos --probes 4"},
  };
  if (command.name == "spectrum" && option == "--matrix") return "";
  if (command.name == "model") return options_of_models(command, option);
  const auto found = contexts.find(option);
  if (found == contexts.end()) return command.options;
  return found->second + (command.name == "error" ? " --methods v-mean,skyformer --features 4 --trials 2" : "");
}

Arguments without(Arguments arguments, const std::string& option) {
  const auto at = std::find(arguments.begin(), arguments.end(), option);
  if (at == arguments.end()) return arguments;
  const bool has_value = at + 1 != arguments.end() && !(at + 1)->starts_with("--");
  arguments.erase(at, at + (has_value ? 2 : 1));
  return arguments;
}

std::vector<std::string> bad_values() {
  return {"",
          "x",
          "-1",
          "0",
          "1.5",
          "nan",
          "-inf",
          "1e400",
          "1e-400",
          "0x10",
          "1073741823",
          "9223372036854775807",
          "9223372036854775808",
          "1e18",
          std::string(5000, '9'),
          "\xff\xfe",
          "a\nb\x1b[2J",
          ",",
          "4,,4",
          "8:4",
          "4:",
          "all,all",
          "a:b=c",
          "none.npy"};
}

// With names of files and folders, most of which are not what they say.
std::vector<std::string> bad_values_and_files() {
  std::vector<std::string> values = bad_values();
  values.insert(values.end(), {".", "/dev/null", "/dev/zero", "junk.npy", "empty.npy", "claims.npy", "sparse.npy",
                               "junk.mtx", "junk.npz", "junk.pt", "junk.safetensors", "junk.svg"});
  return values;
}

void write_files(const TemporaryFolder& folder) {
  write_text(folder / "junk.mtx", "%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1\n");
  const BertModel model("bad input");
  write_text(folder / "model.safetensors", model.file("F32", ""));
  write_text(folder / "config.json", model.configuration());
  write_text(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##a\nb\nc\n");
  const FormulaModel with_head = formula_model("bert");
  write_text(folder / "head.safetensors", with_head.file());
  write_text(folder / "head.json", with_head.config);
  const std::vector<std::int64_t> tokens = {3, 1, 4, 1, 5, 9, 2, 6, 10, 2, 7, 1, 8, 2, 8, 1, 8, 2};
  for (const char* name : {"ids.npy", "labels.npy"}) write_text(folder / name, npy_integers("(2, 9)", tokens));
  write_text(folder / "lengths.npy", npy_integers("(2,)", {9, 6}));
  write_text(folder / "text.txt", "a b c a b c a b c a b c a b c a b c\n");
  croquis::write_npy((folder / "good.npy").string(), arma::mat(12, 4, arma::fill::ones));
  std::string junk;
  for (int i = 0; i < 4096; ++i) junk += static_cast<char>(i * i * 31 + i / 7);
  for (const char* ending : {"npy", "npz", "pt", "safetensors"})
    write_text(folder / (std::string("junk.") + ending), junk);
  write_text(folder / "empty.npy", "");
  write_text(folder / "claims.npy",
             npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 64), }", "12345678"));
}

Arguments joined(const std::string& command, const Arguments& options, const Arguments& more) {
  Arguments all = {command};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Those of the table, and whatever else `croquis --help` has, without options.
std::vector<Command> all_commands(const TemporaryFolder& folder) {
  std::vector<Command> commands(std::begin(kCommands), std::end(kCommands));
  std::istringstream help(run_process({"--help"}, folder.path()).output);
  bool listed = false;
  for (std::string line; std::getline(help, line);) {
    if (listed && line.starts_with("  ")) {
      const std::string name = line.substr(2, line.find(' ', 2) - 2);
      const auto known = [&](const Command& command) { return command.name == name; };
      if (std::none_of(commands.begin(), commands.end(), known)) commands.push_back({name, ""});
    }
    listed = listed ? !line.empty() : line == "Subcommands:";
  }
  CHECK(commands.size() >= std::size(kCommands) + 2);  // list and plot at least
  return commands;
}

}  // namespace

TEST_CASE("every option of every command, given what it should not have: one clear line that names it, or sound rows") {
  TemporaryFolder folder;
  write_files(folder);
  std::set<std::pair<std::string, std::string>> seen;  // an option that commands share is tried with the first
  std::vector<Try> tries;
  for (const Command& command : all_commands(folder)) {
    const bool makes_rows = !command.options.empty();
    std::size_t found = 0;
    for (const Option& option : options_of(command.name, folder)) {
      ++found;
      if (option.name == "--help" || !seen.emplace(option.name, option.help).second) continue;
      const std::string context = makes_rows ? context_of(command, option.name) + kTryOptions : "";
      const Arguments options = without(words(context), option.name);
      const std::string word = makes_rows ? option.name.substr(2) : ": ";  // an argument may be missing instead
      if (!option.takes_value) {
        tries.push_back({joined(command.name, options, {option.name + "=what"}), word});
        continue;
      }
      tries.push_back({joined(command.name, options, {option.name}), word});
      tries.push_back({joined(command.name, options, {option.name, "1", option.name, "1"}), word});
      for (const std::string& value : option.may_be_file ? bad_values_and_files() : bad_values()) {
        // A file is named by its path instead.
        const std::string names = word + "|croquis: " + value.substr(0, value.find('\n')) + "|cannot be opened";
        tries.push_back({joined(command.name, options, {option.name + "=" + value}), names});
      }
    }
    if (makes_rows) CHECK(found > 10);
  }
  for (const std::string& value : bad_values_and_files()) {
    tries.push_back({{"--config", value, "list", "methods"}, "config|options|INI"});
    tries.push_back({{"plot", value, "--out", "p.svg"}, "croquis: " + value.substr(0, 1) + "|cannot be opened|file"});
    tries.push_back({{"plot", "none.csv", "--out=" + value}, "none.csv|a plot ends in|--out"});
    tries.push_back(
        {{"report", value, "--out", "p.html"}, "croquis: " + value.substr(0, 1) + "|cannot be opened|file"});
    tries.push_back({{"show", value}, "croquis: " + value.substr(0, 1) + "|cannot be opened|file"});
    tries.push_back({{"list", value}, "what"});
    tries.push_back({{value}, "command|croquis: -"});  // -1 reads as an option
  }
  MESSAGE(tries.size() << " command lines");
  CHECK(tries.size() > 1500);
  check_all(tries, folder);
}
