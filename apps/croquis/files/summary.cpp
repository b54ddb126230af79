#include "files/summary.hpp"

#include <fmt/format.h>

#include <croquis/io/csv.hpp>
#include <filesystem>
#include <limits>
#include <vector>

#include "files/shown_groups.hpp"
#include "files/whole_file.hpp"

using croquis::csv_number;
using croquis::Group;
using croquis::Grouping;
using croquis::Summary;

namespace {

constexpr const char* kHeadColumns = "metric,heads,failed,median,smallest,largest,mean,standard_error,heavy_tailed";

// Keys before the statistics, in places that scripts rely on, and those that stand behind the metrics in the rows too.
struct Keys {
  std::vector<std::string> first, last;
};

Keys keys_of(const Grouping& grouping) {
  Keys keys;
  for (std::size_t k = 0; k < grouping.keys.size(); ++k) {
    (k < grouping.leading_keys ? keys.first : keys.last).push_back(grouping.keys[k].name);
  }
  return keys;
}

// A header with these columns, and a line for each group and metric, whose statistics `text_of` writes. A metric
// without a number is undefined.
template <typename TextOf>
std::string table_text(const Grouping& grouping, const std::string& columns, const TextOf& text_of) {
  constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
  const Summary nothing{.count = 0,
                        .mean = undefined,
                        .standard_error = undefined,
                        .q10 = undefined,
                        .q50 = undefined,
                        .q90 = undefined,
                        .smallest = undefined,
                        .largest = undefined};
  const Keys keys = keys_of(grouping);
  std::string text;
  const auto add_line = [&](const auto& field, const std::string& statistics) {
    for (const std::string& key : keys.first) text += field(key) + ',';
    text += statistics;
    for (const std::string& key : keys.last) text += ',' + field(key);
    text += '\n';
  };
  add_line([](const std::string& key) { return key; }, columns);
  for (const Group& group : grouping.groups) {
    for (const croquis::Column& metric : grouping.metrics) {
      const Summary* known = group.metric(metric.name);
      add_line([&](const std::string& key) { return croquis::csv_field(group.key.at(key)); },
               fmt::format("{},{}", metric.name, text_of(group, known != nullptr ? *known : nothing)));
    }
  }
  return text;
}

void write_summary(const std::string& path, const Grouping& grouping) {
  require_still_companion(path);
  write_whole(path, table_text(grouping, "metric,count,failed,mean,standard_error,q10,q50,q90",
                               [](const Group& group, const Summary& s) {
                                 return fmt::format("{},{},{},{},{},{},{}", s.count, group.failed, csv_number(s.mean),
                                                    csv_number(s.standard_error), csv_number(s.q10), csv_number(s.q50),
                                                    csv_number(s.q90));
                               }));
}

void write_heads(const std::string& path, const Grouping& grouping) {
  require_still_companion(path);
  write_whole(path, table_text(grouping, kHeadColumns, [](const Group& group, const Summary& s) {
                return fmt::format("{},{},{},{},{},{},{},{}", s.count, group.failed, csv_number(s.q50),
                                   csv_number(s.smallest), csv_number(s.largest), csv_number(s.mean),
                                   csv_number(s.standard_error), s.heavy_tailed ? "yes" : "no");
              }));
}

bool is_heads_file(const std::string& path) {
  const std::string text = first_bytes(path);
  return text.substr(0, text.find('\n')).find(kHeadColumns) != std::string::npos;
}

}  // namespace

std::vector<Companion> summary_files(std::size_t inputs) {
  std::vector<Companion> files = {summary_file};
  if (inputs > 1) files.push_back(heads_file);
  return files;
}

void write_grouped_summary(const croquis::Table& table, const std::string& out) {
  write_summary(summary_file(out), croquis::group_rows(table));
  const Grouping together = croquis::group_rows(table, head_columns());
  if (together.is_nested()) {
    write_heads(heads_file(out), together);
  } else if (is_heads_file(heads_file(out))) {  // an earlier run's, which would be taken for this one's
    std::error_code failure;
    std::filesystem::remove(heads_file(out), failure);
  }
}

void print_files(const croquis::Table& table, const std::string& out) {
  std::size_t failed = 0;
  const std::size_t status = table.column("status");
  std::string reason;
  for (const croquis::Record& row : table.rows) {
    if (const std::string text = croquis::text_of(row[status]); text != "ok" && failed++ == 0) reason = text;
  }
  if (failed > 0) fmt::print("\n{} of {} rows failed; the first: {}\n", failed, table.rows.size(), reason);
  fmt::print("\nrows     {}\nsummary  {}\n", out, summary_file(out));
  if (is_heads_file(heads_file(out))) fmt::print("heads    {}\n", heads_file(out));
  fmt::print("meta     {}\n", meta_file(out));
}
