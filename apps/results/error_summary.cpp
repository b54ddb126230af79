#include "results/error_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <stdexcept>

#include "results/row_file.hpp"

namespace {

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// Everything that tells one group from another.
std::vector<std::string> key_of(const ErrorGroup& g) {
  return {g.input, g.method, g.preset, g.target, g.n, g.p, g.p_v, std::to_string(g.features)};
}

}  // namespace

std::string ErrorGroup::label() const {
  if (preset == "paper") return method;
  return method + " (" + (preset.starts_with("paper;") ? preset.substr(6) : preset) + ")";
}

const std::vector<std::string>& error_metrics() {
  static const std::vector<std::string> metrics = {"spectral_abs", "spectral_rel", "frobenius_abs", "frobenius_rel",
                                                   "max_abs"};
  return metrics;
}

std::vector<ErrorGroup> group_errors(const croquis::CsvTable& table) {
  const auto at = [&](const char* name) { return table.column(name); };
  const std::size_t input = at("input"), method = at("method"), preset = at("preset"), target = at("target"),
                    n = at("n"), p = at("p"), p_v = at("p_v"), features = at("features"), status = at("status");
  std::vector<ErrorGroup> groups;
  std::map<std::vector<std::string>, std::size_t> index;
  std::vector<std::map<std::string, std::vector<double>>> values;
  for (const auto& row : table.rows) {
    const std::optional<double> d = number(row[features]);
    if (!d) throw std::invalid_argument(fmt::format("features '{}' is not a number", row[features]));
    ErrorGroup group{
        row[input], row[method], row[preset], row[target], row[n], row[p], row[p_v], static_cast<long long>(*d), 0, {}};
    const auto [found, added] = index.emplace(key_of(group), groups.size());
    if (added) {
      groups.push_back(std::move(group));
      values.emplace_back();
    }
    if (row[status] != "ok") ++groups[found->second].failed;
    for (const std::string& metric : error_metrics()) {
      if (const auto value = number(row[table.column(metric)])) values[found->second][metric].push_back(*value);
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (auto& [metric, list] : values[g]) groups[g].metrics.emplace(metric, croquis::summarise(std::move(list)));
  }
  return groups;
}

void write_summary(const std::string& path, const std::vector<ErrorGroup>& groups) {
  using croquis::csv_field;
  using croquis::csv_number;
  std::ofstream file(path);
  file << "input,method,preset,target,n,p,p_v,features,metric,count,failed,mean,standard_error,q10,q50,q90\n";
  for (const ErrorGroup& g : groups) {
    for (const std::string& metric : error_metrics()) {
      const auto found = g.metrics.find(metric);
      const double undefined = std::nan("");
      const croquis::Summary s = found == g.metrics.end()
                                     ? croquis::Summary{0, undefined, undefined, undefined, undefined, undefined}
                                     : found->second;
      file << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(g.input), g.method,
                          csv_field(g.preset), g.target, g.n, g.p, g.p_v, g.features, metric, s.count, g.failed,
                          csv_number(s.mean), csv_number(s.standard_error), csv_number(s.q10), csv_number(s.q50),
                          csv_number(s.q90));
    }
  }
  file.flush();
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path));
}

void print_summary(const std::vector<ErrorGroup>& groups, const croquis::CsvTable& table, const std::string& out) {
  std::vector<long long> features;
  std::vector<std::string> labels;
  std::size_t width = 8;
  std::map<std::pair<std::string, long long>, const ErrorGroup*> cells;
  for (const ErrorGroup& g : groups) {
    features.push_back(g.features);
    if (std::find(labels.begin(), labels.end(), g.label()) == labels.end()) labels.push_back(g.label());
    width = std::max(width, g.label().size());
    cells[{g.label(), g.features}] = &g;
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());

  if (!groups.empty()) {
    const ErrorGroup& g = groups.front();
    fmt::print("\nrelative spectral error of the output, mean (standard error); {}, n = {}, p = {}\n\n", g.input, g.n,
               g.p);
  }
  fmt::print("{:<{}}", "method", width);
  for (const long long d : features) fmt::print("  {:>16}", fmt::format("d = {}", d));
  fmt::print("\n");
  for (const std::string& label : labels) {
    fmt::print("{:<{}}", label, width);
    for (const long long d : features) {
      const auto found = cells.find({label, d});
      std::string text = "-";
      if (found != cells.end()) {
        const ErrorGroup& g = *found->second;
        const auto metric = g.metrics.find("spectral_rel");
        if (metric == g.metrics.end()) {
          text = g.failed > 0 ? "failed" : "NA";
        } else if (std::isnan(metric->second.standard_error)) {
          text = fmt::format("{:.4g}", metric->second.mean);
        } else {
          text = fmt::format("{:.4g} ({:.1g})", metric->second.mean, metric->second.standard_error);
        }
      }
      fmt::print("  {:>16}", text);
    }
    fmt::print("\n");
  }
  std::size_t failed = 0;
  const std::size_t status = table.column("status");
  std::string reason;
  for (const auto& row : table.rows) {
    if (row[status] == "ok") continue;
    if (failed++ == 0) reason = row[table.column("method")] + ": " + row[status];
  }
  if (failed > 0) fmt::print("\n{} of {} rows failed; the first: {}\n", failed, table.rows.size(), reason);
  fmt::print("\nrows     {}\nsummary  {}\nmeta     {}\n", out, beside(out, ".summary.csv"), beside(out, ".meta.json"));
}
