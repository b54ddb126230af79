#include "files/model_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include "files/number.hpp"
#include "files/text_table.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::ModelSummary;
using croquis::Summary;

namespace {

struct Metric {
  const char* name;
  double ModelSummary::*mean;
  double ModelSummary::*error;  // null: it has none
};
constexpr Metric kMetrics[] = {{"loss", &ModelSummary::loss, &ModelSummary::loss_error},
                               {"increase", &ModelSummary::increase, &ModelSummary::increase_error},
                               {"accuracy", &ModelSummary::accuracy, &ModelSummary::accuracy_error},
                               {"agreement", &ModelSummary::agreement, &ModelSummary::agreement_error},
                               {"kl", &ModelSummary::kl, &ModelSummary::kl_error},
                               {"hidden_rel", &ModelSummary::hidden_rel, &ModelSummary::hidden_rel_error}};

// A choice says itself what it replaces.
std::set<std::string> layers_in(const std::vector<ModelSummary>& summaries) {
  std::set<std::string> layers;
  for (const ModelSummary& s : summaries) {
    if (s.method != "choice") layers.insert(s.layers);
  }
  return layers;
}

std::string label_of(const ModelSummary& s, bool with_layers) {
  std::string label = croquis::curve_label({s.method, s.preset});
  if (with_layers && s.method != "choice") label += fmt::format(", layer {}", s.layers);
  return label;
}

// What a size is called; of 0, where each head has its own, "choice".
std::string size_name(std::uint64_t d) {
  return d == 0 ? "choice" : fmt::format("d = {}", d);
}

Summary summary_of(double mean, double error, std::uint64_t count) {
  Summary s;
  s.count = count;
  s.mean = s.q10 = s.q50 = s.q90 = s.smallest = s.largest = mean;
  s.standard_error = error;
  return s;
}

void print_metric(const std::vector<ModelSummary>& summaries, const Metric& metric, const std::string& title) {
  std::set<std::uint64_t> sizes;
  std::vector<std::string> labels;
  std::map<std::pair<std::string, std::uint64_t>, const ModelSummary*> cells;
  const bool with_layers = layers_in(summaries).size() > 1;
  bool failed = false;
  for (const ModelSummary& s : summaries) {
    if (s.method == "exact") continue;
    const std::string label = label_of(s, with_layers);
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
    sizes.insert(s.features);
    cells[{label, s.features}] = &s;
    failed = failed || s.failed > 0;
  }
  fmt::print("\n{}\n\n", title);
  std::vector<TextColumn> columns(sizes.size() + 1, TextColumn{TextColumn::Side::right, 18});
  columns.front() = {TextColumn::Side::left, 8};
  TextTable table(columns);
  std::vector<std::string> header = {""};
  for (const std::uint64_t d : sizes) header.push_back(size_name(d));
  table.add(header);
  for (const std::string& label : labels) {
    std::vector<std::string> row = {label};
    for (const std::uint64_t d : sizes) {
      const auto found = cells.find({label, d});
      std::string text = "-";
      if (found != cells.end()) {
        const ModelSummary& s = *found->second;
        const double mean = s.*metric.mean, error = metric.error == nullptr ? std::nan("") : s.*metric.error;
        text = std::isnan(mean)    ? "failed"
               : std::isnan(error) ? fmt::format("{:.4g}", mean)
                                   : fmt::format("{:.4g} ({:.1g})", mean, error);
        if (failed) text += s.failed > 0 ? "!" : " ";
      }
      row.push_back(text);
    }
    table.add(row);
  }
  fmt::print("{}", table.text());
  if (failed) fmt::print("\n! leaves out rows that failed; their status says why\n");
}

constexpr Metric kCost{"flops_ratio", &ModelSummary::flops_ratio, nullptr};

bool has_choice(const std::vector<ModelSummary>& summaries) {
  return std::any_of(summaries.begin(), summaries.end(), [](const ModelSummary& s) { return s.method == "choice"; });
}

}  // namespace

double metric_of_exact(const std::vector<ModelSummary>& summaries, const std::string& metric) {
  double value = std::nan("");
  std::uint64_t counted = 0;
  for (const ModelSummary& s : summaries) {
    const double exact = metric == "loss" ? s.loss_exact : metric == "accuracy" ? s.accuracy_exact : std::nan("");
    // Where a method has failed, its summary is about the sequences that are left.
    if (!std::isnan(exact) && s.counted > counted) value = exact, counted = s.counted;
  }
  return value;
}

bool has_errors(const std::vector<ModelSummary>& summaries) {
  return std::any_of(summaries.begin(), summaries.end(),
                     [](const ModelSummary& s) { return s.method != "exact" && !std::isnan(s.loss_error); });
}

std::optional<double> layer_of(const ModelSummary& summary) {
  return parse_number(summary.layers.substr(0, summary.layers.find(';')));
}

bool is_layer_by_layer(const std::vector<ModelSummary>& summaries) {
  return layers_in(summaries).size() > 1 && std::all_of(summaries.begin(), summaries.end(), [](const ModelSummary& s) {
           return s.method == "choice" || layer_of(s).has_value();
         });
}

std::string subject_of_models(const std::vector<ModelSummary>& summaries) {
  const ModelSummary& first = summaries.front();
  std::uint64_t sequences = 0, counted = 0;
  for (const ModelSummary& s : summaries) {
    sequences = std::max(sequences, s.sequences);
    counted = std::max(counted, s.counted);
  }
  const std::set<std::string> layers = layers_in(summaries);
  const auto of = [&](const char* method) {
    return std::count_if(summaries.begin(), summaries.end(), [&](const ModelSummary& s) { return s.method == method; });
  };
  const bool chosen = of("choice") > 0 && of("choice") + of("exact") == static_cast<std::ptrdiff_t>(summaries.size());
  constexpr const char* kOfChoice = "the heads of the choice";
  const std::string with_choice = of("choice") > 0 ? fmt::format(", and {}", kOfChoice) : "";
  return fmt::format("{}, {} position{} of {} sequence{}, {}", first.model, counted, counted == 1 ? "" : "s", sequences,
                     sequences == 1 ? "" : "s",
                     chosen                         ? kOfChoice
                     : is_layer_by_layer(summaries) ? "one layer at a time"
                     : layers.size() > 1            ? "several sets of layers"
                                                    : "layers " + *layers.begin() + with_choice);
}

void print_models(const std::vector<ModelSummary>& summaries) {
  if (summaries.empty()) return;
  const std::string subject = subject_of_models(summaries);
  const double loss = metric_of_exact(summaries, "loss"), accuracy = metric_of_exact(summaries, "accuracy");
  if (std::all_of(summaries.begin(), summaries.end(), [](const ModelSummary& s) { return s.method == "exact"; })) {
    fmt::print("\nexact attention: loss {:.6g}, accuracy {:.6g}; {}\n", loss, accuracy, subject);
    return;
  }
  const bool errors = has_errors(summaries);
  print_metric(summaries, kMetrics[0],
               fmt::format("loss{}; exact attention {:.6g}; {}", errors ? " (standard error between sequences)" : "",
                           loss, subject));
  print_metric(summaries, kMetrics[1],
               fmt::format("increase of the loss over exact attention on the same sequences{}; {}",
                           errors ? " (standard error of the differences)" : "", subject));
  print_metric(summaries, kMetrics[2], fmt::format("accuracy; exact attention {:.6g}; {}", accuracy, subject));
  print_metric(summaries, kMetrics[5], fmt::format("relative error of the last hidden state; {}", subject));
  print_metric(summaries, kCost,
               fmt::format("flops of the approximated heads{}, in units of exact attention's; {}",
                           has_choice(summaries) ? " and of those that the choice keeps exact" : "", subject));
}

Grouping grouping_of_models(const std::vector<ModelSummary>& summaries) {
  Grouping grouping;
  for (const croquis::Column& column : croquis::model_summary_columns().all()) {
    if (column.role == croquis::Role::metric) grouping.metrics.push_back(column);
    if (column.role == croquis::Role::axis) grouping.axis = column;
  }
  const bool with_layers = layers_in(summaries).size() > 1;
  grouping.random = true;
  for (const ModelSummary& s : summaries) {
    if (s.method == "exact" || std::isnan(s.loss)) continue;
    Group group;
    group.label = label_of(s, with_layers);
    group.x = s.features;
    group.failed = s.failed;
    for (const Metric& metric : kMetrics) {
      group.metrics.emplace(metric.name, summary_of(s.*metric.mean, s.*metric.error, s.sequences));
    }
    group.metrics.emplace("flops", summary_of(s.flops, 0, s.sequences));
    group.metrics.emplace("seconds", summary_of(s.seconds, 0, s.sequences));
    grouping.draws = std::max<std::size_t>(grouping.draws, s.draws);
    grouping.groups.push_back(std::move(group));
  }
  std::size_t sequences = 0;
  for (const ModelSummary& s : summaries) sequences = std::max<std::size_t>(sequences, s.sequences);
  for (std::size_t i = 0; i < sequences; ++i) grouping.members.push_back(fmt::format("sequence {}", i));
  for (Group& group : grouping.groups) group.members = sequences;
  grouping.fewest_draws = grouping.draws;
  return grouping;
}
