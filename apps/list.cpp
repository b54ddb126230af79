#include "list.hpp"

#include <fmt/format.h>

#include <croquis/attention/method.hpp>

namespace {

struct Entry {
  const char *name, *source, *summary;
};

constexpr Entry kSketches[] = {
    {"gaussian", "Skeinformer Def. 3.2", "independent N(0, 1/d) entries"},
    {"uniform", "Skeinformer Def. 3.1", "sqrt(n/d) e_i, i uniform, with or without replacement"},
};
constexpr Entry kInputs[] = {
    {"text", "--text FILE --token-type --n N",
     "a head of an initialised BERT on a text; without --text the sample text"},
    {"arrays", "--q Q.npy --k K.npy --v V.npy", "your own head: float16, 32 or 64, (n, p)"},
    {"gaussian", "--n N --p P --norm R", "independent normal entries, root mean square norm R of queries and keys"},
    {"sphere", "--n N --p P --norm R", "queries and keys uniform on a sphere"},
    {"clustered", "--clusters K --spread S --norm R", "tokens about K centres, off by S times the norm"},
    {"heavy-norms", "--tail A --norm R", "norms t R with P(t > x) = x^-A: few tokens dominate"},
    {"low-rank", "--rank K --norm R", "Q, K, V are projections of tokens in K dimensions"},
    {"duplicates", "--distinct K --norm R", "every token is one of K"},
};

template <std::size_t n>
void print(const Entry (&entries)[n], int width) {
  for (const Entry& e : entries) fmt::print("{:<12}{:<{}}{}\n", e.name, e.source, width, e.summary);
}

void print_methods() {
  fmt::print("{:<22}{:<12}{:<26}{}\n", "method", "target", "source", "what it computes");
  for (const auto& m : croquis::methods<double>()) {
    fmt::print("{:<22}{:<12}{:<26}{}{}\n", m.name, name_of(m.target), m.source, m.summary,
               m.random({}) ? "" : " (not random: one row)");
    for (const auto& option : m.options) {
      fmt::print("  {}={}  [{}]  {}\n", option.name, option.values, option.fallback, option.effect);
    }
  }
  fmt::print("\noptions: --methods skyformer:preset=code,ridge=0.2,skeinformer\n");
}

}  // namespace

int run_list(const std::string& what) {
  if (what == "methods") print_methods();
  if (what == "sketches") print(kSketches, 24);
  if (what == "inputs") print(kInputs, 36);
  return 0;
}
