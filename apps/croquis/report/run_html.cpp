#include "report/run_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <croquis/io/json.hpp>
#include <filesystem>
#include <utility>
#include <vector>

#include "files/companions.hpp"
#include "files/escape.hpp"
#include "files/metadata.hpp"

namespace {
using nlohmann::json;

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : croquis::json_text(value);
}

std::string line_of(const std::string& name, const json& value) {
  constexpr std::size_t longest = 600;
  std::string text = text_of(value);
  if (text.size() > longest) text.replace(longest, std::string::npos, " ...");
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", html(name), html(text));
}

// The runs that made rows before the last one: parts that were merged, and runs that --resume went on with.
std::vector<json> earlier_runs_in(const json& meta) {
  std::vector<json> runs;
  for (const char* group : {"earlier", "merged"}) {
    if (meta.contains(group)) add_runs(meta[group], runs);
  }
  return runs;
}

std::string name_of_run(const json& run) {
  std::string name;
  for (const char* key : {"file", "utc"}) {
    if (run.contains(key)) name += (name.empty() ? "" : ", ") + text_of(run[key]);
  }
  return name;
}

std::string lines_of(const json& environment) {
  std::string lines;
  for (const auto& [key, value] : environment.items()) lines += line_of(key, value);
  return lines;
}

// The commands of these runs, which made all of the rows or some, and each version and machine once.
std::string html_of_earlier(const std::vector<json>& runs, bool of_all) {
  constexpr std::size_t most = 100;
  std::string commands;
  std::vector<std::pair<json, std::size_t>> environments;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i < most) commands += line_of(name_of_run(runs[i]), runs[i].value("command_line", json("")));
    const json environment = runs[i].value("environment", json());
    if (!environment.is_object()) continue;
    const auto same = std::find_if(environments.begin(), environments.end(),
                                   [&](const auto& known) { return known.first == environment; });
    if (same == environments.end()) {
      environments.emplace_back(environment, 1);
    } else {
      ++same->second;
    }
  }
  if (runs.size() > most) commands += fmt::format("<dt>...</dt><dd>and {} more</dd>\n", runs.size() - most);
  std::string text = fmt::format("<details><summary>{} made {}</summary><dl>{}</dl></details>\n",
                                 runs.size() == 1 ? "One run" : fmt::format("{} runs", runs.size()),
                                 of_all ? "the rows" : "rows before", commands);
  for (std::size_t i = 0; i < environments.size() && i < most; ++i) {
    const auto& [environment, count] = environments[i];
    text += fmt::format("<details><summary>Versions and machine of {} of them</summary><dl>{}</dl></details>\n", count,
                        lines_of(environment));
  }
  return text;
}

}  // namespace

std::string html_of_run(const std::string& rows, bool changed) {
  const json meta = read_metadata(meta_file(rows));
  if (!meta.is_object()) {
    return fmt::format("<h3>How it was made</h3>\n<p class=\"soft\">There is no {} beside the rows.</p>\n",
                       html(meta_file(std::filesystem::path(rows).filename().string())));
  }
  std::string text = "<h3>How it was made</h3>\n";
  if (changed) {
    text += "<p><strong>The rows were changed after the run.</strong> What follows is about the run.</p>\n";
  }
  if (meta.contains("command_line")) {
    text += fmt::format("<p class=\"soft\">This command makes it again:</p>\n<pre><code>{}</code></pre>\n",
                        html(text_of(meta["command_line"])));
  }
  const std::vector<json> earlier = earlier_runs_in(meta);
  if (meta.contains("merged")) text += "<p class=\"soft\">It was merged from parts.</p>\n";
  if (meta.contains("earlier")) text += "<p class=\"soft\">It went on with rows of earlier runs.</p>\n";
  if (!earlier.empty()) text += html_of_earlier(earlier, meta.contains("merged"));
  std::string lines;
  for (const char* key : {"seed", "utc", "threads"}) {
    if (meta.contains(key)) lines += line_of(key, meta[key]);
  }
  for (const char* group : {"identity", "environment"}) {
    if (!meta.contains(group) || !meta[group].is_object()) continue;
    lines += lines_of(meta[group]);
  }
  text += fmt::format("<details><summary>Versions, machine, input and digests</summary><dl>{}</dl></details>\n", lines);
  if (meta.contains("configuration")) {
    text += fmt::format(
        "<details><summary>The effective configuration, as --config reads it</summary>"
        "<pre><code>{}</code></pre></details>\n",
        html(text_of(meta["configuration"])));
  }
  return text;
}
