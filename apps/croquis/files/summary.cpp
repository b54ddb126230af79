#include "files/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/io/csv.hpp>
#include <limits>
#include <map>
#include <utility>

#include "files/row_file.hpp"
#include "files/whole_file.hpp"

using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

void write_summary(const std::string& path, const Grouping& grouping) {
  using croquis::csv_number;
  std::string text;
  for (const croquis::Column& key : grouping.keys) text += key.name + ',';
  text += "metric,count,failed,mean,standard_error,q10,q50,q90\n";
  constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
  const Summary nothing{0, undefined, undefined, undefined, undefined, undefined};
  for (const Group& group : grouping.groups) {
    for (const croquis::Column& metric : grouping.metrics) {
      const Summary* known = group.metric(metric.name);
      const Summary& s = known != nullptr ? *known : nothing;
      for (const croquis::Column& key : grouping.keys) text += croquis::csv_field(group.key.at(key.name)) + ',';
      text += fmt::format("{},{},{},{},{},{},{},{}\n", metric.name, s.count, group.failed, csv_number(s.mean),
                          csv_number(s.standard_error), csv_number(s.q10), csv_number(s.q50), csv_number(s.q90));
    }
  }
  write_whole(path, text);
}

void print_groups(const std::string& title, const Grouping& grouping, const std::string& metric, Statistic statistic) {
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> labels;
  std::size_t width = 8;
  std::map<std::pair<std::string, std::uint64_t>, const Group*> cells;
  for (const Group& g : grouping.groups) {
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
  for (const std::uint64_t size : sizes)
    fmt::print("  {:>{}}", fmt::format("{} = {}", grouping.axis.shown(), size), column);
  fmt::print("\n");
  for (const std::string& label : labels) {
    fmt::print("{:<{}}", label, width);
    for (const std::uint64_t size : sizes) {
      const auto found = cells.find({label, size});
      std::string text = "-";
      if (found != cells.end()) {
        const Summary* s = found->second->metric(metric);
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

void print_files(const croquis::Table& table, const std::string& out, const std::string& plot) {
  std::size_t failed = 0;
  const std::size_t status = table.column("status");
  std::string reason;
  for (const croquis::Record& row : table.rows) {
    if (const std::string text = croquis::text_of(row[status]); text != "ok" && failed++ == 0) reason = text;
  }
  if (failed > 0) fmt::print("\n{} of {} rows failed; the first: {}\n", failed, table.rows.size(), reason);
  fmt::print("\nrows     {}\nsummary  {}\nmeta     {}\n", out, beside(out, ".summary.csv"), beside(out, ".meta.json"));
  if (!plot.empty()) fmt::print("plot     {}\n", plot);
}
