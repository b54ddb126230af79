// Every command that a page shows, run.
//
// A line of a code block that starts with "croquis" or with the folder of the examples is a command, and so is code
// within prose that starts with "croquis" and has arguments. The commands of a page are run one after the other in
// one folder, which has the files that the pages name.
//   Followed in its block by lines of output, a command is run as it stands and must print those lines; "..." stands
//   for lines left out. A line with mpirun is neither output nor run here: tests/apps/ranks.cpp has ranks.
//   Any other is run on less (kSmaller): fewer tokens, draws and repeats.
// "$ croquis ..." is the transcript of one machine, and not run.
#include <doctest/doctest.h>
#include <croquis/io/npy.hpp>
#include <croquis/random/draws.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "docs/pages.hpp"
#include "support/archives.hpp"
#include "support/bert_model.hpp"
#include "support/matrices.hpp"
#include "support/npy_files.hpp"
#include "support/program.hpp"

namespace {

struct Command {
  std::string text;
  std::vector<std::string> output;  ///< as shown
};

const std::string kProgram = "croquis ", kExamples = "build/release/docs/examples/", kLauncher = "mpirun ";

// "command \" goes on in the next line; "  # ..." is a comment.
std::vector<Command> commands_of(const CodeBlock& block) {
  std::vector<Command> commands;
  for (std::size_t i = 0; i < block.lines.size(); ++i) {
    std::string line = block.lines[i];
    if (line.starts_with(kProgram) || line.starts_with(kExamples)) {
      while (line.ends_with('\\') && i + 1 < block.lines.size()) {
        line.pop_back();
        line += block.lines[++i];
      }
      commands.push_back({line.substr(0, line.find("  #")), {}});
    } else if (line.starts_with(kLauncher)) {
      while (line.ends_with('\\')) line = block.lines[++i];
    } else if (!commands.empty() && !line.empty()) {
      commands.back().output.push_back(line);
    }
  }
  return commands;
}

std::vector<Command> commands_of(const Page& page) {
  static const std::regex span("`(croquis [a-z]+ [^`]+)`");
  std::vector<Command> commands;
  for (const CodeBlock& block : page.blocks) {
    if (!block.language.empty()) continue;
    for (Command& command : commands_of(block)) commands.push_back(std::move(command));
  }
  for (const std::string& line : page.prose) {
    for (std::sregex_iterator match(line.begin(), line.end(), span), end; match != end; ++match) {
      commands.push_back({(*match)[1], {}});
    }
  }
  return commands;
}

using Option = std::pair<std::string, std::string>;
const std::map<std::string, std::vector<Option>> kSmaller = {
    {"error", {{"--n", "256"}, {"--trials", "1"}, {"--rows", "64"}}},
    {"gradient", {{"--n", "256"}, {"--trials", "2"}}},
    {"sketch", {{"--n", "256"}, {"--trials", "2"}}},
    {"variance", {{"--keys", "64"}, {"--trials", "2"}}},
    {"spectrum", {{"--n", "256"}}},
    {"dimension", {{"--n", "64,128"}, {"--trials", "2"}}},
    {"model", {{"--trials", "1"}, {"--features", "8"}, {"--sequence", "0-1"}}},
    {"cost", {{"--n", "256"}, {"--features", "16"}, {"--repeats", "1"}, {"--warmup", "0"}}},
    {"verify", {{"--quick", ""}, {"--trials", "10"}, {"--claims", "nys.*"}}},
};

// Sets the options of kSmaller; --n not for arrays and matrices, which have their own, --rows only where it is given,
// --claims only where it is not.
std::string on_less(const std::string& command) {
  std::istringstream words(command);
  std::vector<std::string> parts;
  for (std::string word; words >> word;) parts.push_back(word);
  const auto has = [&](const std::string& word) { return std::find(parts.begin(), parts.end(), word) != parts.end(); };
  const auto is_file = [](const std::string& word) { return word.ends_with(".npy") || word.ends_with(".mtx"); };
  const auto matrix = std::find(parts.begin(), parts.end(), "--matrix");
  const bool own =
      has("--q") || has("--qkv") || has("--ids") || (parts.end() - matrix > 1 && is_file(*std::next(matrix)));
  const auto found = kSmaller.find(parts.at(1));
  if (found == kSmaller.end() || has("--help")) return command;
  for (const auto& [name, value] : found->second) {
    const auto place = std::find(parts.begin(), parts.end(), name);
    if (place != parts.end()) {
      if (!value.empty() && name != "--claims") parts.at(place - parts.begin() + 1) = value;
    } else if (name != "--rows" && !(name == "--n" && own)) {
      parts.push_back(name);
      if (!value.empty()) parts.push_back(value);
    }
  }
  std::string smaller;
  for (const std::string& part : parts) smaller += part + " ";
  return smaller;
}

std::string normal_npy(const std::string& shape, std::size_t count, const croquis::Key& draw_key) {
  std::vector<double> numbers(count);
  croquis::fill_normal(draw_key, 0, count, numbers.data());
  return npy_doubles(shape, numbers);
}

// The block of a page that begins with this line, as a file.
std::string block_of(const char* path, const std::string& first) {
  for (const Page& page : all_pages()) {
    for (const CodeBlock& block : page.blocks) {
      if (page.path != path || block.lines.front() != first) continue;
      std::string text;
      for (const std::string& line : block.lines) text += line + "\n";
      return text;
    }
  }
  return "";
}

// The files that pages name.
struct Files : TemporaryFolder {
  Files() {
    const croquis::Key draw_key = croquis::Key(1).child("docs");
    std::vector<std::pair<std::string, std::string>> members;
    for (const char* name : {"Q", "K", "V"}) {
      write(name + std::string(".npy"), normal_npy("(256, 16)", std::size_t{256} * 16, draw_key.child(name)));
      for (const char* layer : {"layer0_", "layer1_"}) {
        write(layer + std::string(name) + ".npy",
              normal_npy("(4, 256, 8)", std::size_t{4} * 256 * 8, draw_key.child(layer).child(name)));
      }
      members.emplace_back(name + std::string(".npy"),
                           normal_npy("(256, 8)", std::size_t{256} * 8, draw_key.child(name)));
    }
    write_matrices();
    write("head.npz", zip_file(members, Compression::deflated));
    write("run.ini", block_of("docs/formats.md", "[error]"));
    write("expected.txt", "nys.lemma1 VERIFIED\n");
    write("text.txt", read_text(project_root() / "docs/primer.md"));
    BertModel model("docs", {.hidden = 16, .heads = 4, .layers = 12, .intermediate = 12, .positions = 64});
    add_language_head(model);
    write_tokens();
    for (const char* folder : {"", "bert/", "model/"}) {
      std::filesystem::create_directories(path() / folder);
      write(folder + std::string("model.safetensors"), model.file("F32", ""));
      write(folder + std::string("config.json"), model.configuration());
      write(folder + std::string("vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\na\n##a\nof\nand\n,\n.\n");
    }
  }

  // Those of docs/sketches/README.md: a spiral as its NumPy makes it, and what users have.
  void write_matrices() {
    arma::mat spiral(600, 2);
    for (arma::uword i = 0; i < spiral.n_rows; ++i) {
      const double t = static_cast<double>(i) / 20;
      spiral.row(i) = arma::rowvec{t * std::cos(t), t * std::sin(t)};
    }
    croquis::write_npy((path() / "X.npy").string(), spiral);
    arma::mat heavy_rows(64, 2, arma::fill::zeros);
    heavy_rows(3, 0) = heavy_rows(40, 1) = 1;
    croquis::write_npy((path() / "E64.npy").string(), heavy_rows);
    const croquis::Key draw_key = croquis::Key(1).child("docs");
    const arma::mat a = random_matrix(256, 300, draw_key.child("A")), b = random_matrix(256, 20, draw_key.child("B"));
    croquis::write_npy((path() / "A.npy").string(), a);
    croquis::write_npy((path() / "B.npy").string(), b);
    croquis::write_npy((path() / "G.npy").string(), a * a.t());
    write("M.mtx", block_of("docs/formats.md", "%%MatrixMarket matrix coordinate real symmetric"));
  }

  static void add_language_head(BertModel& model) {
    const arma::uword hidden = model.config.hidden;
    model.tensors["cls.predictions.transform.dense.weight"] = arma::eye(hidden, hidden);
    for (const char* part : {"dense.bias", "LayerNorm.weight", "LayerNorm.bias"}) {
      model.tensors[std::string("cls.predictions.transform.") + part] = arma::mat(1, hidden, arma::fill::ones);
    }
    model.tensors["cls.predictions.bias"] = arma::mat(1, model.vocabulary, arma::fill::zeros);
  }

  // Eight sequences of 64 tokens, every fifth one to be predicted.
  void write_tokens() {
    std::vector<std::int64_t> ids, labels, lengths;
    for (std::int64_t i = 0; i < 8 * 64; ++i) {
      ids.push_back(i * i % 20);
      labels.push_back(i % 5 == 0 ? 7 : -100);
    }
    for (std::int64_t s = 0; s < 8; ++s) lengths.push_back(64 - s);
    write("ids.npy", npy_integers("(8, 64)", ids));
    write("labels.npy", npy_integers("(8, 64)", labels));
    write("lengths.npy", npy_integers("(8,)", lengths));
  }

  void write(const std::string& name, const std::string& bytes) { write_text(path() / name, bytes); }
};

std::string run_text(const Command& command) {
  if (command.text.starts_with(kExamples)) return CROQUIS_EXAMPLES "/" + command.text.substr(kExamples.size());
  const std::string shown = command.output.empty() ? on_less(command.text) : command.text;
  return CROQUIS_PROGRAM " " + shown.substr(kProgram.size());
}

// The first shown line that the output does not have after those before it; empty when it has all.
std::string missing_line(const std::vector<std::string>& shown, const std::string& output) {
  std::istringstream printed(output);
  for (const std::string& line : shown) {
    if (line == "...") continue;
    bool found = false;
    for (std::string other; !found && std::getline(printed, other);) found = other == line;
    if (!found) return line;
  }
  return "";
}

}  // namespace

TEST_CASE("pages: every command works, and prints what is shown") {
  int commands = 0, with_output = 0;
  for (const Page& page : all_pages()) {
    const std::vector<Command> shown = commands_of(page);
    if (shown.empty()) continue;
    const Files files;
    std::set<std::string> done;
    for (const Command& command : shown) {
      if (!done.insert(command.text).second && command.output.empty()) continue;
      ++commands;
      if (!command.output.empty()) ++with_output;
      const ProgramRun run = run_command(run_text(command), files.path());
      CAPTURE(page.path.string());
      CAPTURE(command.text);
      CAPTURE(run.output);
      CHECK(run.status == 0);
      CHECK(missing_line(command.output, run.output) == "");
    }
  }
  MESSAGE(commands << " commands, " << with_output << " with output");
  CHECK(commands > 40);  // or they are no longer recognised
}

TEST_CASE("README: the table is what experiments/quickstart.sh prints") {
  const std::string script = read_text(project_root() / "experiments/quickstart.sh");
  const std::size_t begin = script.find("croquis error "), end = script.find("--out", begin);
  REQUIRE(end != std::string::npos);
  std::string arguments = script.substr(begin + kProgram.size(), end - begin - kProgram.size());
  std::erase_if(arguments, [](char c) { return c == '\\' || c == '\n'; });
  const TemporaryFolder folder;
  const ProgramRun run = run_croquis(arguments, folder.path());
  int tables = 0;
  for (const CodeBlock& block : all_pages().front().blocks) {
    if (!block.lines.front().starts_with("relative spectral error")) continue;
    ++tables;
    CAPTURE(run.output);
    CHECK(missing_line(block.lines, run.output) == "");
  }
  CHECK(tables == 1);
}
