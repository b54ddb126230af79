#include "files/choice_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/groups.hpp>
#include <map>
#include <string>

#include "files/targets.hpp"
#include "files/text_table.hpp"

using croquis::ChoiceRow;

namespace {

constexpr std::size_t kManyChoices = 24;

std::string method_of(const ChoiceRow& row) {
  return croquis::curve_label({row.method, row.preset});
}

std::string shown(double x) {
  return std::isnan(x) ? "-" : fmt::format("{:.3g}", x);
}

// 1 - delta, which is not to be read as 1.
std::string complement(double delta) {
  constexpr double shown_in_digits = 1e-9;
  return delta < shown_in_digits ? fmt::format("1 - {:g}", delta) : fmt::format("{:.12g}", 1 - delta);
}

std::size_t count(const std::vector<ChoiceRow>& rows, const char* status) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const ChoiceRow& row) { return row.status == status; }));
}

void print_each(const std::vector<ChoiceRow>& rows) {
  using Side = TextColumn::Side;
  TextTable table({{Side::left}, {Side::left}, {Side::left}, {}, {}, {}, {}, {}, {}});
  table.add({"", "status", "method", "d", "cost", rows.front().metric == "loss" ? "KL alone" : "median", "95 %",
             "failures <", "needed"});
  for (const ChoiceRow& row : rows) {
    const bool is_exact = row.status == "exact";
    const std::string needed = row.status != "undecided" ? "" : row.needed ? fmt::format("{} more", *row.needed) : "-";
    table.add({row.input, row.status, is_exact ? "" : method_of(row), is_exact ? "" : fmt::format("{}", row.features),
               is_exact ? "1" : shown(row.cost_ratio), is_exact ? "" : shown(row.error_median),
               is_exact ? "" : shown(row.error_q95), is_exact ? "" : shown(row.failure_upper), needed});
  }
  fmt::print("{}", table.text());
}

void print_layers(const std::vector<ChoiceRow>& rows) {
  std::map<std::uint64_t, std::vector<ChoiceRow>> layers;
  for (const ChoiceRow& row : rows) layers[row.layer.value_or(0)].push_back(row);
  using Side = TextColumn::Side;
  TextTable table({{}, {}, {}, {}, {}, {Side::left}});
  table.add({"layer", "chosen", "exact", "undecided", "cost", "methods chosen"});
  for (const auto& [layer, heads] : layers) {
    std::map<std::string, std::size_t> methods;
    for (const ChoiceRow& row : heads) {
      if (row.status == "chosen") ++methods[method_of(row)];
    }
    std::string names;
    for (const auto& [name, times] : methods) names += fmt::format("{}{} {}", names.empty() ? "" : ", ", times, name);
    table.add({fmt::format("{}", layer), fmt::format("{}", count(heads, "chosen")),
               fmt::format("{}", count(heads, "exact")), fmt::format("{}", count(heads, "undecided")),
               shown(croquis::followed_cost_ratio(heads)), names});
  }
  fmt::print("{}", table.text());
}

}  // namespace

std::string other_target_of(const std::vector<ChoiceRow>& rows) {
  for (const ChoiceRow& row : rows) {
    const std::string target = target_of_method(row.method);
    if (row.metric == "loss" || is_softmax(target)) continue;
    return fmt::format(
        "The errors are those against {}. They do not say what a model that computes softmax attention loses.",
        meaning_of_target(target));
  }
  return "";
}

void print_choices(const std::vector<ChoiceRow>& rows) {
  const ChoiceRow& first = rows.front();
  const bool by_loss = first.metric == "loss";
  if (by_loss) {
    fmt::print("\nthe last step that is certified: the mean loss rises by at most {:g}, with confidence {}\n\n",
               first.eps, first.confidence);
  } else {
    fmt::print("\nthe least {} such that P({} <= {:g}) >= {}; with confidence {} all that is chosen holds\n\n",
               first.cost_unit, first.metric, first.eps, complement(first.delta), first.confidence);
  }
  if (rows.size() > kManyChoices) {
    print_layers(rows);
  } else {
    print_each(rows);
  }
  fmt::print(
      "\n{} chosen, {} exact, {} undecided. Followed, with exact attention where nothing is chosen, they cost {:.3g} "
      "of "
      "exact attention's {}.\n",
      count(rows, "chosen"), count(rows, "exact"), count(rows, "undecided"), croquis::followed_cost_ratio(rows),
      first.cost_unit);
  if (count(rows, "undecided") > 0) {
    std::vector<ChoiceRow> hoped = rows;
    for (ChoiceRow& row : hoped) {
      if (row.needed) row.status = "chosen";
    }
    fmt::print(
        "Of what is undecided, the candidate that leads is shown; it is no answer yet. If those with a number under "
        "\"needed\" go on as so far and are chosen, all will cost {:.3g}.\n",
        croquis::followed_cost_ratio(hoped));
  }
  if (const std::string other = other_target_of(rows); !other.empty()) fmt::print("{}\n", other);
}
