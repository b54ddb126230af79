#include "report/model_answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <croquis/stats/accumulator.hpp>
#include <map>
#include <set>
#include <utility>

#include "pictures/curve.hpp"
#include "report/group_answers.hpp"
#include "report/leads.hpp"

using croquis::ModelSummary;

namespace {

// In standard errors: what is taken for a difference.
constexpr double kClearErrors = 2;

std::string numbers_of(const ModelSummary& s) {
  std::string text = shown_number(s.loss);
  if (!std::isnan(s.loss_error)) text += fmt::format(" ± {:.1g} (standard error between sequences)", s.loss_error);
  text +=
      fmt::format(", {} {} exact attention's", shown_number(std::abs(s.increase)), s.increase < 0 ? "below" : "above");
  if (!std::isnan(s.increase_error)) text += fmt::format(" (± {:.1g}, of differences)", s.increase_error);
  return text +
         fmt::format(", accuracy {}, {:.2g} of the flops of exact attention.", shown_number(s.accuracy), s.flops_ratio);
}

bool is_of(const croquis::ModelRow& row, const ModelSummary& s) {
  return row.layers == s.layers && row.method == s.method && row.preset == s.preset && row.features == s.features;
}

// By how much the loss rises from one method to another, neither of which failed, with the standard error of
// differences on the same sequences: that is what a summary says of the other's rows, if the loss of the first stands
// where exact attention's is.
ModelSummary from_one_to(const ModelSummary& one, const ModelSummary& other,
                         const std::vector<croquis::ModelRow>& rows) {
  std::map<std::uint64_t, croquis::Accumulator> losses;
  for (const croquis::ModelRow& row : rows) {
    if (is_of(row, one)) losses[row.sequence].add(row.loss);
  }
  std::vector<croquis::ModelRow> compared;
  for (const croquis::ModelRow& row : rows) {
    const auto loss = losses.find(row.sequence);
    if (!is_of(row, other) || loss == losses.end()) continue;
    compared.push_back(row);
    compared.back().loss_exact = loss->second.mean();
  }
  const std::vector<ModelSummary> summaries = croquis::summarise_models(compared);
  return summaries.empty() ? ModelSummary() : summaries.front();
}

bool is_mean(const ModelSummary& s) {
  return s.method == "v-mean";
}

// Exact attention is no method here.
bool computes_all_scores(const ModelSummary& s) {
  return s.method != "exact" && is_quadratic(s.method, s.preset);
}

// What best_of() leaves out, of all sizes.
std::string left_out_of_losses(const std::vector<ModelSummary>& summaries) {
  const auto any = [&](const auto& is) {
    return std::any_of(summaries.begin(), summaries.end(),
                       [&](const ModelSummary& s) { return !std::isnan(s.loss) && is(s); });
  };
  return left_out(any(is_mean), any(computes_all_scores));
}

// " For comparison: v-mean 3.2, best-rank-d 2.1."
std::string brackets_at(const std::vector<ModelSummary>& summaries, std::uint64_t d) {
  std::string text;
  for (const ModelSummary& s : summaries) {
    if (s.features != d || std::isnan(s.loss) || (!is_mean(s) && s.method != "best-rank-d")) continue;
    text += fmt::format("{}{} {}", text.empty() ? " For comparison: " : ", ", s.method, shown_number(s.loss));
  }
  return text.empty() ? "" : text + ".";
}

// "linformer (3 of 6 rows)": those that failed somewhere. A failure is a bad answer, and without it the loss is that of
// other sequences.
std::string failing_ones(const std::vector<const ModelSummary*>& candidates,
                         const std::vector<croquis::ModelRow>& rows) {
  std::string text;
  for (const ModelSummary* s : candidates) {
    if (s->failed == 0) continue;
    const auto all =
        std::count_if(rows.begin(), rows.end(), [&](const croquis::ModelRow& row) { return is_of(row, *s); });
    text += fmt::format("{}{} ({} of {} rows)", text.empty() ? "" : ", ", croquis::curve_label({s->method, s->preset}),
                        s->failed, all);
  }
  return text;
}

// Of those that count, as for errors (may_lead()).
std::string best_of(const std::vector<ModelSummary>& summaries, const std::vector<croquis::ModelRow>& rows,
                    std::uint64_t d) {
  std::vector<const ModelSummary*> candidates;
  for (const ModelSummary& s : summaries) {
    if (s.method == "exact" || s.features != d || is_mean(s) || computes_all_scores(s)) continue;
    candidates.push_back(&s);
  }
  const std::string failing = failing_ones(candidates, rows);
  const std::string not_compared =
      failing.empty() ? "" : fmt::format(" Not compared at d = {}, as rows failed: {}.", d, failing);
  std::erase_if(candidates, [&](const ModelSummary* s) { return std::isnan(s->loss) || (d > 0 && s->failed > 0); });
  if (candidates.empty()) return d > 0 && !failing.empty() ? not_compared.substr(1) : "";
  const ModelSummary* best = *std::min_element(candidates.begin(), candidates.end(),
                                               [](const auto* a, const auto* b) { return a->loss < b->loss; });
  const auto label = [](const ModelSummary& s) { return croquis::curve_label({s.method, s.preset}); };
  if (d == 0) return fmt::format("The {} has the loss {}", label(*best), numbers_of(*best));
  std::vector<std::string> rivals, once;  // once: no standard error
  for (const ModelSummary* other : candidates) {
    if (other == best) continue;
    const ModelSummary rise = from_one_to(*best, *other, rows);
    if (rise.increase <= kClearErrors * rise.increase_error) rivals.push_back(label(*other));
    if (std::isnan(rise.increase_error)) once.push_back(label(*other));
  }
  std::string no_lead;
  if (!rivals.empty()) {
    no_lead = fmt::format(
        " It has no clear lead over {}: on the same sequences the losses differ by at most two standard errors in the "
        "mean.",
        fmt::join(rivals, ", "));
  }
  if (once.size() + 1 == candidates.size() && !once.empty()) {
    no_lead += " On one sequence: a lead may be chance.";
  } else if (!once.empty()) {
    no_lead += fmt::format(" Its lead over {} is on one sequence, and may be chance.", fmt::join(once, ", "));
  }
  return fmt::format("At d = {}, {} has the smallest loss: {}{}{}{}", d, label(*best), numbers_of(*best), no_lead,
                     not_compared, brackets_at(summaries, d));
}

std::string rise_of(const ModelSummary& s) {
  const std::string error = std::isnan(s.increase_error) ? "" : fmt::format(" ± {:.1g}", s.increase_error);
  return fmt::format("with layer {} ({}{})", s.layers, shown_number(s.increase), error);
}

// Of one method at one d: the layers that it was tried on, and those where rows failed.
struct LayersOfMethod {
  std::vector<const ModelSummary*> whole;
  std::vector<std::string> failed;
  std::uint64_t features = 0;
};

std::string best_and_worst(const LayersOfMethod& layers) {
  const auto below = [](const auto* a, const auto* b) { return a->increase < b->increase; };
  const auto [best, worst] = std::minmax_element(layers.whole.begin(), layers.whole.end(), below);
  const ModelSummary& one = *layers.whole.front();
  const std::string size = is_mean(one) ? "" : fmt::format(" at d = {}", one.features);
  std::string text =
      fmt::format("{}{} in one layer at a time: the loss rises most {} and least {}.",
                  croquis::curve_label({one.method, one.preset}), size, rise_of(**worst), rise_of(**best));
  if (!layers.failed.empty())
    text += fmt::format(" Not compared, as rows failed: layer {}.", fmt::join(layers.failed, ", "));
  std::vector<std::string> level;
  bool once = true;
  for (const ModelSummary* s : layers.whole) {
    once = once && std::isnan(s->increase_error);
    if (std::abs(s->increase) <= kClearErrors * s->increase_error) level.push_back(s->layers);
  }
  if (once) return text + " On one sequence: a difference may be chance.";
  if (level.empty()) return text;
  const std::size_t all = layers.whole.size() + layers.failed.size();
  if (level.size() == all) return text + " In no layer does it differ clearly from exact attention's.";
  return text + fmt::format(" In {} of {} layers ({}) it does not differ clearly from exact attention's.", level.size(),
                            all, fmt::join(level, ", "));
}

}  // namespace

std::vector<std::string> answers_of_models(const std::vector<ModelSummary>& summaries,
                                           const std::vector<croquis::ModelRow>& rows) {
  std::vector<std::string> answers;
  std::set<std::uint64_t> sizes;
  for (const ModelSummary& s : summaries) sizes.insert(s.features);
  std::string not_counted = left_out_of_losses(summaries);
  for (const std::uint64_t d : sizes) {
    std::string text = best_of(summaries, rows, d);
    if (text.empty()) continue;
    if (d > 0) text += std::exchange(not_counted, "");  // a choice has no rivals
    answers.push_back(std::move(text));
  }
  return answers;
}

std::vector<std::string> answers_by_layer(const std::vector<ModelSummary>& summaries,
                                          const std::vector<croquis::ModelRow>& rows) {
  std::vector<std::string> answers, order;
  std::map<std::string, LayersOfMethod> methods;  // at the largest d of each
  for (const ModelSummary& s : summaries) {
    if (s.method == "exact" || s.method == "choice") continue;
    const std::string label = croquis::curve_label({s.method, s.preset});
    const auto [place, is_new] = methods.try_emplace(label);
    if (is_new) order.push_back(label);
    if (is_new || s.features > place->second.features) place->second = {{}, {}, s.features};
    if (s.features < place->second.features) continue;
    if (s.failed > 0 || std::isnan(s.increase)) {
      place->second.failed.push_back(s.layers);
    } else {
      place->second.whole.push_back(&s);
    }
  }
  for (const std::string& label : order) {
    if (!methods[label].whole.empty()) answers.push_back(best_and_worst(methods[label]));
  }
  if (!answers.empty())
    answers.front() +=
        " (± is the standard error of differences between sequences. What layers add one at a time need not add up.)";
  if (std::string choice = best_of(summaries, rows, 0); !choice.empty()) answers.push_back(std::move(choice));
  return answers;
}
