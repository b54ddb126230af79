#include "commands/model_remarks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "files/progress.hpp"
#include "files/targets.hpp"

using croquis::Replacement;
using croquis::SavedChoice;

namespace {

// A choice fits every model of as many layers and heads.
void remark_on_other_model(const std::vector<SavedChoice>& saved, const std::string& model) {
  const std::string begin = "model:";
  for (const SavedChoice& choice : saved) {
    const std::string& input = choice.row.input;
    if (!input.starts_with(begin)) continue;
    const std::string made_for = input.substr(begin.size(), input.find(';') - begin.size());
    if (made_for == model) continue;
    return say_once(
        fmt::format("croquis model: --choice was made for the model {}, and this one is {}; its guarantee is not "
                    "about this one\n",
                    made_for, model));
  }
}

// Of a choice by errors: the errors of its exact attention are 0 against the same function as those of its methods. Of
// one by the loss, the model was run with its own.
void remark_on_exact_attention(const std::vector<SavedChoice>& saved) {
  for (const SavedChoice& choice : saved) {
    if (choice.row.metric == "loss" || is_softmax(choice.row.target)) continue;
    return say_once(
        fmt::format("croquis model: errors of --choice are against {}; where it has exact attention (heads without a "
                    "chosen method, sequences too short for one), the model's own softmax attention runs\n",
                    meaning_of_target(choice.row.target)));
  }
}

}  // namespace

void remark_on_choice(const std::vector<SavedChoice>& saved, const std::string& model) {
  remark_on_other_model(saved, model);
  remark_on_exact_attention(saved);
}

void remark_on_replacements(const std::vector<Replacement>& replacements, std::size_t heads_of_model,
                            arma::uword fewest) {
  std::map<std::string, std::set<std::string>> others;  // names by target
  for (const Replacement& replacement : replacements) {
    std::size_t replaced = 0;
    arma::uword largest = 0;  // d
    for (const auto& [place, head] : replacement.heads) {
      if (!croquis::is_exact(head.choice)) ++replaced;
      largest = std::max(largest, head.features);
      const std::string target = target_of_method(head.choice.name);
      if (!is_softmax(target)) others[target].insert(head.choice.name);
    }
    if (replacement.method == "choice" && largest > fewest) {
      say_once(fmt::format(
          "croquis model: --choice has d = {}; heads have exact attention on sequences of fewer tokens than "
          "their d, as in croquis choose (the shortest sequence has {})\n",
          largest, fewest));
    }
    if (replacement.method == "choice" && replaced == 0) {
      say_once(
          "croquis model: --choice has exact attention in all heads: there is nothing to lose, and nothing gained\n");
    } else if (replacement.method == "choice" && replaced < heads_of_model) {
      say_once(fmt::format("croquis model: --choice replaces {} of {} heads; the others have exact attention\n",
                           replaced, heads_of_model));
    }
  }
  for (const auto& [target, names] : others) {
    say_once(fmt::format("croquis model: {} approximate{} {}, which is what the model computes\n",
                         fmt::join(names, ", "), names.size() == 1 ? "s" : "", meaning_of_target(target)));
  }
}
