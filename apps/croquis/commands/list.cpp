// croquis list: what there is.

#include <fmt/format.h>

#include <croquis/attention/method.hpp>
#include <croquis/sampling/landmarks.hpp>
#include <croquis/sketch/distributions.hpp>
#include <memory>

#include "commands/command.hpp"
#include "commands/verify/listing.hpp"
#include "files/text_table.hpp"

namespace {

struct Entry {
  const char *name, *source, *summary;
};

constexpr Entry kFeatureMaps[] = {
    {"trf", "NPRF Eq. 4", "e^{|x|^2/2} m^{-1/2} [sin w.x, cos w.x], d = 2m"},
    {"prf", "NPRF Eq. 5", "e^{-|x|^2/2} m^{-1/2} exp(w.x), d = m"},
    {"hyperbolic", "Performer", "e^{-|x|^2/2} (2m)^{-1/2} [exp(w.x), exp(-w.x)], d = 2m"},
    {"sphere", "NPRF Sec. 4.5", "prf with |w| = sqrt(p): biased with every projection"},
    {"oprf", "FAVOR++",
     "(1-4a)^{p/4} e^{-|x|^2/2} m^{-1/2} exp(a |w|^2 + sqrt(1-4a) w.x), a <= 0 fitted to the points, d = m"},
    {"saderf", "FAVOR#",
     "oprf of Psi x and Psi^-1 y for queries x and keys y, Psi diagonal, Psi_tt^4 = mean y_t^2 / mean x_t^2"},
};
constexpr Entry kProjections[] = {
    {"iid", "unbiased", "independent normal directions w"},
    {"haar", "unbiased", "blocks of p orthogonal directions with chi_p norms"},
    {"halton", "unbiased", "shifted Halton points through the normal quantile"},
    {"orthogonal", "biased", "blocks of p orthogonal directions of norm sqrt(p)"},
    {"sorf", "biased", "H D H D H D / p', p' = p rounded up to a power of two, by fast Hadamard transforms"},
};
constexpr Entry kInputs[] = {
    {"text", "--text FILE --vocab FILE --n N",
     "a head of an initialised BERT on a text; without --text the sample text"},
    {"model", "--model FILE --vocab FILE --text FILE, or --model FILE --ids FILE",
     "heads of a trained BERT, ALBERT, GPT-2 or Llama: --layer 0-3,11 and --head, or all"},
    {"arrays", "--q Q.npy --k K.npy --v V.npy",
     "your own heads, or --qkv FILE.npz, .safetensors, .pt: float16, bfloat16, 32 or 64; (n, p), (heads, n, p) or "
     "(batch, heads, n, p); fewer heads of keys and other numbers of queries are taken"},
    {"gaussian", "--n N --p P --norm R", "independent normal entries, root mean square norm R of queries and keys"},
    {"sphere", "--n N --p P --norm R", "queries and keys uniform on a sphere"},
    {"clustered", "--clusters K --spread S --norm R", "tokens about K centres, off by S times the norm"},
    {"heavy-norms", "--tail A --norm R", "norms t R with P(t > x) = x^-A: few tokens dominate"},
    {"low-rank", "--token-rank K --norm R", "Q, K, V are projections of tokens in K dimensions"},
    {"duplicates", "--distinct K --norm R", "every token is one of K"},
};

const std::vector<TextColumn> kThreeColumns(3), kFourColumns(4);

template <std::size_t n>
void print(const Entry (&entries)[n]) {
  TextTable table(kThreeColumns);
  for (const Entry& e : entries) table.add({e.name, e.source, e.summary});
  fmt::print("{}", table.text());
}

void print_methods() {
  TextTable table(kFourColumns);
  table.add({"method", "target", "source", "what it computes"});
  for (const auto& m : croquis::methods<double>()) {
    table.add({m.name, std::string(name_of(m.target)), m.source,
               fmt::format("{}{}{}", m.summary, m.random({}) ? "" : " (not random: one row)",
                           m.adjoint({}) ? "; has an adjoint" : "")});
    for (const auto& option : m.options) {
      table.add_line(fmt::format("  {}={}  [{}]  {}", option.name, option.values, option.default_value, option.effect));
    }
  }
  fmt::print("{}\noptions: --methods skyformer:preset=code,ridge=0.2,skeinformer\n", table.text());
}

void print_sketches() {
  TextTable table(kThreeColumns);
  table.add({"sketch", "source", "column j of S, or its entries"});
  for (const auto& distribution : croquis::sketch_distributions<double>()) {
    table.add({distribution.name, distribution.source, distribution.summary});
    for (const auto& p : distribution.parameters)
      table.add_line(fmt::format("  {}={}  [{}]  {}", p.name, p.range, p.default_value, p.effect));
  }
  std::vector<std::string> policies = croquis::landmark_policy_names();
  std::erase(policies, "given");  // its points are an option of the methods that take it
  fmt::print("{}\nlandmark policies: {}\n", table.text(), fmt::join(policies, " "));
}

// What summaries, plots and merging do with a column.
const char* role_of(const croquis::Column& column) {
  using croquis::Role;
  switch (column.role) {
    case Role::curve:
    case Role::axis:
    case Role::key:
    case Role::part:
      return "key";
    case Role::draw:
      return "draw";
    case Role::subject:
      return "subject";
    case Role::metric:
      return "metric";
    case Role::number:
      return "number";
    case Role::note:
      break;
  }
  return "note";
}

// A table in Markdown, as docs/results.md has it.
void print_table(const std::string& title, const std::vector<croquis::Column>& columns) {
  fmt::print("{}\n\n| column | role | meaning |\n| --- | --- | --- |\n", title);
  for (const croquis::Column& column : columns) {
    fmt::print("| `{}` | {} | {}{}{} |\n", column.name, role_of(column), column.meaning,
               column.unit.empty() ? "" : fmt::format(" ({})", column.unit),
               column.option.empty() ? "" : fmt::format(" (with `{}`)", column.option));
  }
}

void print_columns() {
  for (const Command& command : commands()) {
    const Results& results = command.results;
    if (results.columns.empty()) continue;
    print_table(fmt::format("{}croquis {}", &command == &commands().front() ? "" : "\n", command.name),
                results.columns);
    if (!results.summary_columns.empty()) {
      print_table(fmt::format("\ncroquis {}, summary", command.name), results.summary_columns);
    }
    for (const auto& [file, columns] : results.other_columns) {
      print_table(fmt::format("\ncroquis {}, {}", command.name, file), columns);
    }
  }
}

int run_list(const std::string& what) {
  if (what == "methods") print_methods();
  if (what == "sketches") print_sketches();
  if (what == "features") {
    fmt::print("map\n");
    print(kFeatureMaps);
    fmt::print("\nprojection  (unbiased: for every map but sphere, with epsilon=0)\n");
    print(kProjections);
    fmt::print("\noptions: --methods performer:map=oprf,projection=haar,nprf-rpe:product=fft\n");
  }
  if (what == "claims") print_claims();
  if (what == "columns") print_columns();
  if (what == "inputs") print(kInputs);
  return 0;
}

}  // namespace

Command list_command() {
  const auto what = std::make_shared<std::string>();
  return {.name = "list",
          .summary = "what there is: methods, sketches, features, inputs, claims, columns",
          .example = "croquis list methods",
          .add_options =
              [what](CLI::App& app) {
                app.add_option("what", *what, "one of methods, sketches, features, inputs, claims, columns")
                    ->required()
                    ->check(one_of({"methods", "sketches", "features", "inputs", "claims", "columns"}));
              },
          .run = [what](const CLI::App&, const std::string&) { return run_list(*what); },
          .one_rank = true};
}
