#include "results/groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "results/row_file.hpp"
#include "results/whole_file.hpp"

namespace {

// {"skyformer", "paper;ridge=0.1"} -> "skyformer (ridge=0.1)"; empty parts and `paper` are left out.
std::string label_of(const std::vector<std::string>& parts) {
  std::string label = parts.front(), rest;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    std::string part = parts[i].starts_with("paper;") ? parts[i].substr(6) : parts[i];
    if (part.empty() || part == "paper") continue;
    rest += (rest.empty() ? "" : ", ") + part;
  }
  return rest.empty() ? label : fmt::format("{} ({})", label, rest);
}

}  // namespace

const Grouping& error_grouping(bool scores) {
  static const Grouping of_output = {{"input", "method", "preset", "target", "n", "p", "p_v", "features"},
                                     {"method", "preset"},
                                     {"spectral_abs", "spectral_rel", "frobenius_abs", "frobenius_rel", "max_abs"}};
  static const Grouping of_both = [] {
    Grouping both = of_output;
    both.metrics.insert(both.metrics.end(), {"scores_spectral_abs", "scores_spectral_rel"});
    return both;
  }();
  return scores ? of_both : of_output;
}

const Grouping& sketch_grouping() {
  static const Grouping grouping = {{"input", "matrix", "n", "cols", "rank", "kind", "name", "features"},
                                    {"name"},
                                    {"norm_error", "injectivity", "dilation", "product_spectral_rel",
                                     "product_frobenius_rel", "nystrom_spectral_rel", "nystrom_trace_rel", "seconds"}};
  return grouping;
}

const Grouping& cost_grouping(bool over_n) {
  static const auto make = [](const char* curve, const char* x) {
    return Grouping{{"input", "method", "preset", "n", "p", "p_v", "precision", "threads", "features"},
                    {"method", "preset", curve},
                    {"seconds", "peak_bytes", "flops"},
                    x};
  };
  static const Grouping by_n = make("features", "n"), by_features = make("n", "features");
  return over_n ? by_n : by_features;
}

const Grouping& variance_grouping() {
  static const Grouping grouping = {{"input", "map", "projection", "norm", "p", "queries", "keys", "features"},
                                    {"map", "projection", "norm"},
                                    {"l1_error", "squared_error", "lemma_2"}};
  return grouping;
}

Grouping over_inputs(Grouping grouping) {
  std::erase(grouping.keys, "input");
  return grouping;
}

const Grouping& grouping_of(const croquis::CsvTable& table) {
  const auto several = [&](const char* name) {
    const std::size_t column = table.column(name);
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [&](const auto& row) { return row[column] != table.rows.front()[column]; });
  };
  const auto has = [&](const char* name) {
    return std::find(table.header.begin(), table.header.end(), name) != table.header.end();
  };
  const bool has_n = has("n"), has_scores = has("scores_spectral_rel");
  for (const Grouping* grouping :
       {&error_grouping(has_scores), &sketch_grouping(), &variance_grouping(), &cost_grouping(has_n && several("n"))}) {
    const bool fits = std::all_of(grouping->keys.begin(), grouping->keys.end(), [&](const std::string& key) {
      return std::find(table.header.begin(), table.header.end(), key) != table.header.end();
    });
    if (fits) return *grouping;
  }
  throw std::invalid_argument(fmt::format("not a result of croquis error, sketch, variance or cost: its columns are {}",
                                          fmt::join(table.header, ", ")));
}

const croquis::Summary* Group::metric(const std::string& name) const {
  const auto found = metrics.find(name);
  return found == metrics.end() ? nullptr : &found->second;
}

std::vector<Group> group_rows(const croquis::CsvTable& table, const Grouping& grouping) {
  const auto columns = [&](const std::vector<std::string>& names) {
    std::vector<std::size_t> indices;
    indices.reserve(names.size());
    for (const std::string& name : names) indices.push_back(table.column(name));
    return indices;
  };
  const std::vector<std::size_t> keys = columns(grouping.keys), labels = columns(grouping.label),
                                 metrics = columns(grouping.metrics);
  const std::size_t x = table.column(grouping.x), status = table.column("status");
  std::vector<Group> groups;
  std::map<std::vector<std::string>, std::size_t> index;
  std::vector<std::map<std::string, std::vector<double>>> values;
  for (const auto& row : table.rows) {
    std::vector<std::string> key;
    key.reserve(keys.size());
    for (const std::size_t k : keys) key.push_back(row[k]);
    const auto [found, added] = index.emplace(key, groups.size());
    if (added) {
      Group group;
      for (std::size_t k = 0; k < keys.size(); ++k) group.key[grouping.keys[k]] = key[k];
      std::vector<std::string> parts;
      for (std::size_t l = 0; l < labels.size(); ++l) {
        if (grouping.label[l] == "norm") {
          parts.push_back("R = " + row[labels[l]]);
          continue;
        }
        const bool size = grouping.label[l] == "features" || grouping.label[l] == "n";
        const char* name = grouping.label[l] == "n" ? "n = " : "d = ";
        parts.push_back(size && row[labels[l]] != "0" ? name + row[labels[l]] : size ? "" : row[labels[l]]);
      }
      group.label = label_of(parts);
      group.x = count_in(row[x], grouping.x);
      groups.push_back(std::move(group));
      values.emplace_back();
    }
    if (row[status] != "ok") ++groups[found->second].failed;
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      if (const auto value = number_in(row[metrics[m]])) values[found->second][grouping.metrics[m]].push_back(*value);
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (auto& [metric, list] : values[g]) groups[g].metrics.emplace(metric, croquis::summarise(std::move(list)));
  }
  return groups;
}

void write_summary(const std::string& path, const std::vector<Group>& groups, const Grouping& grouping) {
  using croquis::csv_number;
  std::ostringstream file;
  file << fmt::format("{},metric,count,failed,mean,standard_error,q10,q50,q90\n", fmt::join(grouping.keys, ","));
  constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
  const croquis::Summary nothing{0, undefined, undefined, undefined, undefined, undefined};
  for (const Group& g : groups) {
    for (const std::string& metric : grouping.metrics) {
      const croquis::Summary* known = g.metric(metric);
      const croquis::Summary& s = known != nullptr ? *known : nothing;
      for (const std::string& key : grouping.keys) file << croquis::csv_field(g.key.at(key)) << ',';
      file << fmt::format("{},{},{},{},{},{},{},{}\n", metric, s.count, g.failed, csv_number(s.mean),
                          csv_number(s.standard_error), csv_number(s.q10), csv_number(s.q50), csv_number(s.q90));
    }
  }
  write_whole(path, file.str());
}

void print_groups(const std::string& title, const std::vector<Group>& groups, const std::string& metric,
                  const std::string& x, Statistic statistic) {
  std::vector<long long> sizes;
  std::vector<std::string> labels;
  std::size_t width = 8;
  std::map<std::pair<std::string, long long>, const Group*> cells;
  for (const Group& g : groups) {
    if (g.metric(metric) == nullptr && g.failed == 0) continue;  // nothing this group could say
    sizes.push_back(g.x);
    if (std::find(labels.begin(), labels.end(), g.label) == labels.end()) labels.push_back(g.label);
    width = std::max(width, g.label.size());
    cells[{g.label, g.x}] = &g;
  }
  if (labels.empty()) return;
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());

  const int column = statistic == Statistic::median ? 28 : 18;
  fmt::print("\n{}\n\n{:<{}}", title, "", width);
  for (const long long size : sizes) fmt::print("  {:>{}}", fmt::format("{} = {}", x, size), column);
  fmt::print("\n");
  for (const std::string& label : labels) {
    fmt::print("{:<{}}", label, width);
    for (const long long size : sizes) {
      const auto found = cells.find({label, size});
      std::string text = "-";
      if (found != cells.end()) {
        const croquis::Summary* s = found->second->metric(metric);
        if (s == nullptr) {
          text = "failed";
        } else if (statistic == Statistic::median) {
          text = fmt::format("{:.3g} ({:.2g}-{:.2g})", s->q50, s->q10, s->q90);
        } else if (std::isnan(s->standard_error)) {
          text = fmt::format("{:.4g}", s->mean);
        } else {
          text = fmt::format("{:.4g} ({:.1g})", s->mean, s->standard_error);
        }
      }
      fmt::print("  {:>{}}", text, column);
    }
    fmt::print("\n");
  }
}

void print_files(const croquis::CsvTable& table, const std::string& out, const std::string& plot) {
  std::size_t failed = 0;
  const std::size_t status = table.column("status");
  std::string reason;
  for (const auto& row : table.rows) {
    if (row[status] != "ok" && failed++ == 0) reason = row[status];
  }
  if (failed > 0) fmt::print("\n{} of {} rows failed; the first: {}\n", failed, table.rows.size(), reason);
  fmt::print("\nrows     {}\nsummary  {}\nmeta     {}\n", out, beside(out, ".summary.csv"), beside(out, ".meta.json"));
  if (!plot.empty()) fmt::print("plot     {}\n", plot);
}

long long count_in(const std::string& field, const std::string& column) {
  constexpr double most = 1LL << 53;
  const auto value = number_in(field);
  if (!value || *value < 0 || *value > most || *value != std::floor(*value)) {
    throw std::invalid_argument(fmt::format("{} '{}' is not a whole number", column, field));
  }
  return static_cast<long long>(*value);
}

std::optional<double> number_in(const std::string& field) {
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc{} || end != field.data() + field.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}
