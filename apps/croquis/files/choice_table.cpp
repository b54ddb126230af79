#include "files/choice_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/measure/choice_file.hpp>
#include <croquis/measure/groups.hpp>
#include <croquis/stats/summary.hpp>
#include <limits>
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
  const bool by_loss = rows.front().metric == "loss";  // which has no quantiles, failures and numbers needed
  TextTable table(by_loss ? std::vector<TextColumn>{{Side::left}, {Side::left}, {Side::left}, {}, {}, {}}
                          : std::vector<TextColumn>{{Side::left}, {Side::left}, {Side::left}, {}, {}, {}, {}, {}, {}});
  std::vector<std::string> header = {"", "status", "method", "d", "cost / exact"};
  if (by_loss) header.emplace_back("KL alone");
  if (!by_loss) header.insert(header.end(), {"median", "95 % quantile", "failures <=", "needed"});
  table.add(header);
  for (const ChoiceRow& row : rows) {
    const bool is_exact = row.status == "exact";
    const std::string needed = row.status != "undecided" ? "" : row.needed ? fmt::format("{} more", *row.needed) : "-";
    std::vector<std::string> cells = {row.input,
                                      row.status,
                                      is_exact ? "" : method_of(row),
                                      is_exact ? "" : fmt::format("{}", row.features),
                                      is_exact ? "1" : shown(row.cost_ratio),
                                      is_exact ? "" : shown(row.error_median)};
    if (!by_loss) {
      cells.insert(cells.end(),
                   {is_exact ? "" : shown(row.error_q95), is_exact ? "" : shown(row.failure_upper), needed});
    }
    table.add(cells);
  }
  fmt::print("{}", table.text());
}

void print_layers(const std::vector<ChoiceRow>& rows) {
  std::map<std::uint64_t, std::vector<ChoiceRow>> layers;
  for (const ChoiceRow& row : rows) layers[*row.layer].push_back(row);
  using Side = TextColumn::Side;
  TextTable table({{}, {}, {}, {}, {}, {Side::left}});
  table.add({"layer", "chosen", "exact", "undecided", "cost / exact", "methods chosen"});
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
    // A file may lack the column.
    const std::string target = row.target.empty() ? target_of_method(row.method) : row.target;
    if (row.metric == "loss" || is_softmax(target)) continue;
    return fmt::format(
        "The errors are those against {}. They do not say what a model that computes softmax attention loses.",
        meaning_of_target(target));
  }
  return "";
}

std::string heads_of_guarantee(const std::vector<ChoiceRow>& rows) {
  const bool several = std::any_of(rows.begin(), rows.end(), [](const ChoiceRow& r) { return r.heads > 1; });
  if (!several) return "";
  const bool layers = std::any_of(rows.begin(), rows.end(), [](const ChoiceRow& r) { return r.layer.has_value(); });
  return fmt::format("The probability is that of a head picked at random among those of {}; single heads may be worse",
                     layers ? "the layer" : "the choice");
}

std::string dear_choices(const std::vector<ChoiceRow>& rows) {
  const auto dear = std::count_if(rows.begin(), rows.end(),
                                  [](const ChoiceRow& r) { return r.status == "chosen" && r.cost_ratio >= 1; });
  if (dear == 0) return "";
  return fmt::format("{} of {} chosen: no cheaper than exact attention, which has no error (--max-cost is above 1)",
                     dear, count(rows, "chosen"));
}

std::string times_on_heads(const std::vector<ChoiceRow>& rows) {
  std::vector<double> ratios;
  std::size_t longer = 0;
  for (const ChoiceRow& row : rows) {
    if (std::isnan(row.time_ratio)) continue;
    ratios.push_back(row.time_ratio);
    longer += row.time_ratio * row.cost_ratio >= 1 ? 1 : 0;
  }
  if (ratios.empty()) return "";
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  return fmt::format(
      "costs are times on random tokens; on one sequence of these heads the chosen methods take {:.2g} to {:.2g} times "
      "as long (time_ratio){}",
      *least, *most,
      longer == 0 ? "" : fmt::format(", {} of {} by that no less than exact attention", longer, ratios.size()));
}

std::string measured_name(const ChoiceRow& row) {
  return row.rows ? "upper end of " + row.metric : row.metric;
}

std::string rows_of_guarantee(const std::vector<ChoiceRow>& rows) {
  const ChoiceRow& first = rows.front();
  if (!first.rows) return "";
  return fmt::format(
      "An error is the upper end of a 95 % interval from {} rows of each draw. Where that end is above eps for a\n"
      "share c of the errors above eps, P({} > eps) < {:g} / c; c is measured and not proved",
      *first.rows, first.metric, first.delta);
}

std::string basis_of_loss(const std::vector<ChoiceRow>& rows) {
  std::uint64_t tested = 0;
  for (const ChoiceRow& row : rows) tested = std::max(tested, row.sequences);
  return fmt::format(
      "The mean is over sequences of the same source{}. The limit is Student's, which is exact if their rises are "
      "normal and else asymptotic; a rare catastrophe that none of them shows is not covered",
      tested == 0 ? "" : fmt::format(", tested on {}, others than those that found the steps", tested));
}

namespace {

// Whether a draw is of what the choice is for.
bool is_of(const ChoiceRow& row, const croquis::ChoiceDraw& draw) {
  if (row.layer || row.head) return row.layer == draw.layer && (!row.head || row.head == draw.head);
  return croquis::head_in(draw.input).starts_with(row.input);
}

// "no candidate is good enough; the nearest is skyformer, d = 64, with 0.12 as the 0.9 quantile of the error": of those
// that were looked at, the least.
std::string why_exact(const ChoiceRow& row, const std::vector<croquis::ChoiceDraw>& draws, const std::string& file) {
  if (row.evaluations == 0) return "no candidate is cheap enough";
  std::map<std::pair<std::string, std::uint64_t>, std::vector<double>> errors;
  for (const croquis::ChoiceDraw& draw : draws) {
    if (!is_of(row, draw)) continue;
    errors[{croquis::curve_label({draw.method, draw.preset}), draw.features}].push_back(
        std::isnan(draw.error) ? std::numeric_limits<double>::infinity() : draw.error);
  }
  std::string nearest;
  double least = std::numeric_limits<double>::infinity();
  bool any = false;  // error is a number
  for (auto& [candidate, values] : errors) {
    std::sort(values.begin(), values.end());
    any = any || std::isfinite(values.front());
    const double error = croquis::quantile(values, 1 - row.delta);
    if (!(error < least)) continue;
    least = error;
    nearest = fmt::format("; the nearest is {}, d = {}, with {:.3g} as the {} quantile of {}", candidate.first,
                          candidate.second, error, complement(row.delta), measured_name(row));
  }
  if (!any && !errors.empty()) return fmt::format("no candidate has a {} (NA in {})", row.metric, file);
  return (least <= row.eps ? "no candidate could be certified" : "no candidate is good enough") + nearest;
}

}  // namespace

void print_why_exact(const std::vector<ChoiceRow>& rows, const std::vector<croquis::ChoiceDraw>& draws,
                     const std::string& file) {
  if (rows.size() > kManyChoices || rows.front().metric == "loss") return;
  for (const ChoiceRow& row : rows) {
    if (row.status == "exact") fmt::print("{}: exact, as {}\n", row.input, why_exact(row, draws, file));
  }
}

void print_choices(const std::vector<ChoiceRow>& rows) {
  const ChoiceRow& first = rows.front();
  const bool by_loss = first.metric == "loss";
  if (by_loss && count(rows, "chosen") == 0) {
    fmt::print("\nno step is certified, so that all layers keep exact attention\n\n");
  } else if (by_loss) {
    fmt::print("\nthe last step that is certified: the mean loss rises by at most {:g}, with confidence {}\n{}\n\n",
               first.eps, first.confidence, basis_of_loss(rows));
  } else {
    const std::string heads = heads_of_guarantee(rows), estimated = rows_of_guarantee(rows), dear = dear_choices(rows),
                      times = times_on_heads(rows);
    fmt::print(
        "\nthe method of least {0} such that P({1} <= {2:g}) >= {3}; with confidence {4} that holds for every choice "
        "of the run\n"
        "cost in {0}; median and 95 % quantile are those of {1}\n{5}{6}{7}{8}\n",
        first.cost_unit, measured_name(first), first.eps, complement(first.delta), first.confidence,
        heads.empty() ? "" : heads + "\n", estimated.empty() ? "" : estimated + "\n", dear.empty() ? "" : dear + "\n",
        times.empty() ? "" : times + "\n");
  }
  const bool layers = std::all_of(rows.begin(), rows.end(), [](const ChoiceRow& row) { return row.layer.has_value(); });
  if (layers && rows.size() > kManyChoices) {
    print_layers(rows);
  } else {
    print_each(rows);
  }
  fmt::print(
      "\n{} chosen, {} exact, {} undecided. Followed, with exact attention where nothing is chosen, they cost {:.3g} "
      "of exact attention's {}.\n",
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
