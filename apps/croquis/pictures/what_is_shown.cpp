#include "pictures/what_is_shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "files/group_words.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

std::string axis_title(const Grouping& grouping, const std::string& x) {
  const croquis::Column& axis = grouping.axis;
  if (x == "flops") return "flops, the leading terms of the operation count";
  // Of errors, calls are timed as they come.
  if (x == "seconds") return grouping.random ? "seconds of a call beside others, an indication" : "seconds of a call";
  return axis.symbol.empty() ? (axis.name == "n" ? "tokens n" : axis.name) : axis.name + ' ' + axis.symbol;
}

namespace {

// Of croquis sketch: the two factors of the product that an error is of.
std::string factors_of(const Grouping& grouping) {
  const std::vector<std::string> inputs = inputs_of(grouping);
  const bool own = std::any_of(inputs.begin(), inputs.end(),
                               [](const std::string& name) { return name.find(";product=") != std::string::npos; });
  return own ? " A^T B" : " B V";
}

}  // namespace

std::string metric_title(const Grouping& grouping, const std::string& metric) {
  // ||X|| is written for both norms of the library, and a picture has no page beside it that says which.
  const bool spectral = metric == "spectral_abs" || metric == "spectral_rel" || metric.starts_with("scores_spectral");
  for (const croquis::Column& column : grouping.metrics) {
    if (column.name != metric) continue;
    return column.shown() + (metric.starts_with("product_") ? factors_of(grouping) : "") +
           (spectral ? ", spectral norm" : "") + (column.unit.empty() ? "" : " [" + column.unit + "]");
  }
  return metric;
}

std::pair<double, double> spread_of(const Summary& summary) {
  if (summary.count < kFewestForQuantiles) return {summary.smallest, summary.largest};
  return {summary.q10, summary.q90};
}

double bound_of(const Group& group, const std::string& metric) {
  const Summary *bound = group.metric("bound_abs"), *absolute = group.metric("spectral_abs"),
                *relative = group.metric("spectral_rel");
  const bool known = bound != nullptr && absolute != nullptr && absolute->mean > 0;
  if (known && metric == "spectral_abs") return bound->q50;
  if (known && metric == "spectral_rel" && relative != nullptr) return bound->q50 * relative->mean / absolute->mean;
  return std::numeric_limits<double>::quiet_NaN();
}

std::string rows_note(const Group& group, const std::string& metric, Statistic statistic) {
  const auto rows = rows_interval(group, metric, statistic);
  return rows ? fmt::format("[rows: {:.3g}, {:.3g}]", rows->first, rows->second) : "";
}

StatisticWords statistic_words(const Grouping& grouping, Statistic statistic) {
  const bool mean = statistic == Statistic::mean;
  if (is_of_positions(grouping)) {
    const std::string what = "mean over positions";
    return {.numbers = what + (grouping.is_nested() ? ", with its standard error between sequences" : ""),
            .alone = what};
  }
  if (grouping.is_nested()) {
    const std::string what = nested_statistic(grouping, statistic);
    if (!mean) return {.numbers = what, .spread = "smallest to largest", .alone = what};
    return {.numbers = what +
                       (is_of_sequences(grouping) ? "; standard error between sequences"
                                                  : ", and its standard error between them") +
                       (grouping.draws > 1 ? ", with that of the draws" : "") + where_errors_hold(grouping),
            .alone = what};
  }
  const std::string repetitions = repetitions_of(grouping);
  if (grouping.draws == 1) return {.numbers = repetitions, .alone = repetitions};
  const std::string what = fmt::format("{} of {}", mean ? "mean" : "median", repetitions);
  return {.numbers = what,
          .spread = mean                                   ? "its standard error" + where_errors_hold(grouping)
                    : grouping.draws < kFewestForQuantiles ? "smallest to largest"
                                                           : "10 to 90 %",
          .alone = what};
}

std::string statistic_line(const Grouping& grouping, Statistic statistic, const char* spread) {
  const StatisticWords words = statistic_words(grouping, statistic);
  if (spread == nullptr) return words.alone;
  return words.spread.empty() ? words.numbers : fmt::format("{}; {}: {}", words.numbers, spread, words.spread);
}

std::string default_metric(const Grouping& grouping, const std::string& usual) {
  const auto is_there = [&](const croquis::Column& column) {
    return std::any_of(grouping.groups.begin(), grouping.groups.end(),
                       [&](const Group& group) { return group.metric(column.name) != nullptr; });
  };
  const croquis::Column* first = nullptr;
  for (const croquis::Column& column : grouping.metrics) {
    if (column.name == usual && is_there(column)) return usual;
  }
  for (const croquis::Column& column : grouping.metrics) {
    if (!is_there(column)) continue;
    if (column.name.ends_with("spectral_rel")) return column.name;
    if (first == nullptr) first = &column;
  }
  return first == nullptr ? usual : first->name;
}

bool is_best_at_one(const std::string& metric) {
  return metric.find("cosine") != std::string::npos || metric == "injectivity" || metric == "accuracy" ||
         metric == "agreement";
}
