// Every option of every command, as --help lists them, with values that it should not have, and Q, K, V that break
// programs: one clear line and status 2, or rows of finite numbers or with a reason.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <croquis/io/csv.hpp>
#include <croquis/io/npy.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <sstream>

#include "support/bert_model.hpp"
#include "support/npy_files.hpp"
#include "support/process.hpp"
#include "support/refusal.hpp"

namespace {

using Arguments = std::vector<std::string>;

struct Option {
  std::string name, help;
  bool takes_value = false;
};

// The options that `croquis COMMAND --help` lists: "  --name TYPE...   help", the help perhaps on the next line.
std::vector<Option> options_of(const std::string& command, const TemporaryFolder& folder) {
  std::vector<Option> options;
  std::istringstream help(run_process({command, "--help"}, folder.path()).output);
  for (std::string line; std::getline(help, line);) {
    if (line.starts_with("  --")) {
      const std::size_t end = line.find(' ', 2), next = line.find_first_not_of(' ', end);
      options.push_back({line.substr(2, end - 2), next == std::string::npos ? "" : line.substr(next), next == end + 1});
    } else if (!options.empty() && line.starts_with("      ")) {
      options.back().help += line;
    }
  }
  return options;
}

// A command that works and takes a hundredth of a second.
struct Command {
  std::string name, options;  // what it is given, when the option is not the one that is tried
  std::string least = "";     // what it cannot do without
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
};

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
      {"--bias", "--input gaussian --n 12 --p 4 --causal"},
      {"--probes", "--input gaussian --n 12 --p 4 --method lanczos --leading 2"},
      {"--leading", "--input gaussian --n 12 --p 4 --method lanczos --probes 4"},
  };
  const auto found = contexts.find(option);
  if (found == contexts.end() || command.name == "variance") return command.options;
  return found->second + (command.name == "error" ? " --methods v-mean,skyformer --features 4 --trials 2" : "");
}

std::string common_options() {
  return " --threads 1 --quiet --out rows.csv --overwrite";
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
          "none.npy",
          ".",
          "/dev/null",
          "/dev/zero",
          "junk.npy",
          "empty.npy",
          "claims.npy",
          "sparse.npy",
          "junk.svg"};
}

void write_files(const TemporaryFolder& folder) {
  const BertModel model("bad input");
  write_text(folder / "model.safetensors", model.file("F32", ""));
  write_text(folder / "config.json", model.configuration());
  write_text(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##a\nb\nc\n");
  write_text(folder / "text.txt", "a b c a b c a b c a b c a b c a b c\n");
  croquis::write_npy((folder / "good.npy").string(), arma::mat(12, 4, arma::fill::ones));
  std::string junk;
  for (int i = 0; i < 4096; ++i) junk += static_cast<char>(i * i * 31 + i / 7);
  write_text(folder / "junk.npy", junk);
  write_text(folder / "empty.npy", "");
  write_text(folder / "claims.npy",
             npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 64), }", "12345678"));
}

bool is_one_clear_line(const std::string& text) {
  if (text.size() < 12 || !text.starts_with("croquis: ") || text.find('\n') != text.size() - 1) return false;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < ' ' || c == 0x7f || c == 0xff || c == 0xfe) return false;
  }
  return true;
}

// Every number of the rows is finite or the row says why not.
bool are_sound(const std::filesystem::path& file) {
  const croquis::CsvTable table = croquis::read_csv(file.string());
  const auto status = std::find(table.header.begin(), table.header.end(), "status") - table.header.begin();
  for (const auto& row : table.rows) {
    if (status < static_cast<std::ptrdiff_t>(row.size()) && row[static_cast<std::size_t>(status)] != "ok") continue;
    for (const std::string& field : row) {
      if (field == "nan" || field == "inf" || field == "-inf" || field == "-nan") return false;
    }
  }
  return !table.rows.empty();
}

struct Try {
  Arguments arguments;
  std::string names;  // one of the words that a refusal must have, between |
  bool must_fail = false;
};

// Runs them, some side by side, each in a folder of its own within `folder`.
void check_all(const std::vector<Try>& tries, const TemporaryFolder& folder) {
  constexpr std::size_t side_by_side = 3;
  struct Running {
    const Try* what;
    std::filesystem::path folder;
    std::unique_ptr<Process> process;
  };
  std::deque<Running> running;
  const auto finish_one = [&] {
    Running first = std::move(running.front());
    running.pop_front();
    const ProgramRun run = first.process->wait();
    std::string line;
    for (const std::string& argument : first.what->arguments) line += " '" + argument.substr(0, 80) + "'";
    CAPTURE(line);
    CAPTURE(run.output);
    CHECK((run.status == 0 || run.status == 2));
    if (first.what->must_fail) CHECK(run.status == 2);
    if (run.status == 2) {
      CHECK(is_one_clear_line(run.output));
      std::istringstream names(first.what->names);
      bool named = false;
      for (std::string name; std::getline(names, name, '|');) named = named || contains(run.output, name);
      CHECK(named);
    } else if (std::filesystem::exists(first.folder / "rows.csv")) {
      CHECK(are_sound(first.folder / "rows.csv"));
    }
    std::filesystem::remove_all(first.folder);
  };
  for (std::size_t i = 0; i < tries.size(); ++i) {
    if (running.size() == side_by_side) finish_one();
    const std::filesystem::path own = folder / ("try" + std::to_string(i));
    std::filesystem::create_directory(own);
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
      if (file.is_regular_file()) std::filesystem::copy(file.path(), own);
    }
    write_text(own / "sparse.npy", "");
    std::filesystem::resize_file(own / "sparse.npy", std::uintmax_t{1} << 43);  // 8 TB that take no space
    running.push_back({&tries[i], own,
                       std::make_unique<Process>(tries[i].arguments, own,
                                                 ProcessSettings{.memory = std::size_t{3} << 30, .seconds = 20})});
  }
  while (!running.empty()) finish_one();
}

Arguments joined(const std::string& command, const Arguments& options, const Arguments& more) {
  Arguments all = {command};
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

TEST_CASE("every option of every command, given what it should not have: one clear line that names it, or sound rows") {
  TemporaryFolder folder;
  write_files(folder);
  std::set<std::pair<std::string, std::string>> seen;  // an option that commands share is tried with the first
  std::vector<Try> tries;
  for (const Command& command : kCommands) {
    std::size_t found = 0;
    for (const Option& option : options_of(command.name, folder)) {
      ++found;
      if (option.name == "--help" || !seen.emplace(option.name, option.help).second) continue;
      const Arguments options = without(words(context_of(command, option.name) + common_options()), option.name);
      const std::string word = option.name.substr(2);
      if (!option.takes_value) {
        tries.push_back({joined(command.name, options, {option.name + "=what"}), word});
        continue;
      }
      tries.push_back({joined(command.name, options, {option.name}), word});
      tries.push_back({joined(command.name, options, {option.name, "1", option.name, "1"}), word});
      for (const std::string& value : bad_values()) {
        // A file is named by its path instead.
        const std::string names = word + "|croquis: " + value.substr(0, value.find('\n')) + "|cannot be opened";
        tries.push_back({joined(command.name, options, {option.name + "=" + value}), names});
      }
    }
    CHECK(found > 10);
  }
  for (const std::string& value : bad_values()) {
    tries.push_back({{"--config", value, "list", "methods"}, "config|options|INI"});
    tries.push_back({{"plot", value, "--out", "p.svg"}, "croquis: " + value.substr(0, 1) + "|cannot be opened|file"});
    tries.push_back({{"plot", "none.csv", "--out=" + value}, "none.csv|a plot ends in|--out"});
    tries.push_back({{"list", value}, "what"});
    tries.push_back({{value}, "command"});
  }
  MESSAGE(tries.size() << " command lines");
  CHECK(tries.size() > 1500);
  check_all(tries, folder);
}

namespace {

struct Matrices {
  std::string name;
  arma::mat q, k, v;
  std::string refusal = "";  // a part of it, where there is one in double
};

std::vector<Matrices> hard_matrices() {
  constexpr arma::uword n = 13, p = 4, p_v = 3;
  arma::arma_rng::set_seed(11);  // any numbers will do
  const arma::mat q(n, p, arma::fill::randn), k(n, p, arma::fill::randn), v(n, p_v, arma::fill::randn);
  std::vector<Matrices> all;
  const auto with = [&](double value, const char* text) {
    for (const char which : {'Q', 'K', 'V'}) {
      Matrices m{fmt::format("{} in {}", text, which), q, k, v, fmt::format("matrix = {}, row = 5, column = 2", which)};
      (which == 'Q' ? m.q : which == 'K' ? m.k : m.v)(5, 2) = value;
      all.push_back(m);
    }
  };
  with(arma::datum::nan, "NaN");
  with(arma::datum::inf, "Inf");
  with(-arma::datum::inf, "-Inf");
  for (const double norm : {1e-320, 1e-300, 1e-150, 1e-20, 1e8, 1e20, 1e38, 1e50, 1e100, 1e150}) {
    all.push_back({fmt::format("Q, K of {}", norm), norm * q, norm * k, v});
    all.push_back({fmt::format("Q of {}, K of {}", norm, 1 / norm), norm * q, k / std::max(norm, 1e-300), v});
    all.push_back({fmt::format("V of {}", norm), q, k, norm * v});
    Matrices one{fmt::format("a key of {}", norm), q, k, v};
    one.k.row(4) *= norm;
    all.push_back(one);
  }
  const arma::mat zero(n, p, arma::fill::zeros), one(n, p, arma::fill::ones);
  all.push_back({"zeros", zero, zero, arma::mat(n, p_v, arma::fill::zeros)});
  all.push_back({"negative zeros", -zero, -zero, v});
  all.push_back({"zero queries", zero, k, v});
  all.push_back({"zero keys", q, zero, v});
  all.push_back({"ones", one, one, one});
  all.push_back({"one token, many times", arma::repmat(q.row(0), n, 1), arma::repmat(k.row(0), n, 1), v});
  all.push_back({"two tokens", arma::repmat(q.rows(0, 1), 6, 1), arma::repmat(k.rows(0, 1), 6, 1), v.head_rows(12)});
  all.push_back({"rank one", q.col(0) * one.row(0), k.col(0) * one.row(0), v});
  all.push_back({"n = 1", q.row(0), k.row(0), v.row(0)});
  all.push_back({"n = 2", q.head_rows(2), k.head_rows(2), v.head_rows(2)});
  all.push_back({"p = 1", q.col(0), k.col(0), v.col(0)});
  all.push_back({"n = p = 1", q.submat(0, 0, 0, 0), k.submat(0, 0, 0, 0), v.submat(0, 0, 0, 0)});
  all.push_back({"n = 0", arma::mat(0, 4), arma::mat(0, 4), arma::mat(0, 3), "n = 0"});
  all.push_back({"p = 0", arma::mat(n, 0), arma::mat(n, 0), v, "p = 0"});
  all.push_back({"p_v = 0", q, k, arma::mat(n, 0), "p_v = 0"});
  return all;
}

}  // namespace

TEST_CASE("hard Q, K and V: every command on every method has sound rows, or one clear line") {
  TemporaryFolder folder;
  std::vector<Try> tries;
  int number = 0;
  for (const Matrices& m : hard_matrices()) {
    const std::string name = std::to_string(number++);
    std::filesystem::create_directory(folder / name);
    for (const auto& [file, matrix] : {std::pair{"q.npy", &m.q}, {"k.npy", &m.k}, {"v.npy", &m.v}}) {
      croquis::write_npy((folder / name / file).string(), *matrix);
    }
    const std::string arrays = fmt::format(" --q ../{0}/q.npy --k ../{0}/k.npy --v ../{0}/v.npy", name);
    const std::string d = m.q.n_rows > 1 ? "1,2" : "1";
    const std::string names = m.refusal.empty() ? "Problem|--matrix|: " : m.refusal;
    const auto add = [&](const std::string& line) {
      tries.push_back({words(line + common_options()), names, !m.refusal.empty()});
    };
    add("error --methods all --trials 1 --features " + d + arrays);
    add("error --methods all --trials 1 --precision float --features " + d + arrays);
    add("error --methods all --trials 1 --bias alibi:0.1 --causal --features " + d + arrays);
    add("sketch --trials 1 --features " + d + arrays);
    add("spectrum" + arrays);
    add("dimension --trials 1" + arrays);
    tries.push_back(
        {words(fmt::format("variance --q ../{0}/q.npy --k ../{0}/k.npy --maps all --features 4 --trials 1", name) +
               common_options()),
         ": "});
  }
  MESSAGE(tries.size() << " command lines");
  check_all(tries, folder);
}
