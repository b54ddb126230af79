#include "report/run_html.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "files/companions.hpp"
#include "files/escape.hpp"
#include "files/metadata.hpp"

namespace {
using nlohmann::json;

std::string text_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string line_of(const std::string& name, const json& value) {
  constexpr std::size_t longest = 600;
  std::string text = text_of(value);
  if (text.size() > longest) text.replace(longest, std::string::npos, " ...");
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", html(name), html(text));
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
  std::string lines;
  for (const char* key : {"seed", "utc", "threads"}) {
    if (meta.contains(key)) lines += line_of(key, meta[key]);
  }
  for (const char* group : {"identity", "environment"}) {
    if (!meta.contains(group) || !meta[group].is_object()) continue;
    for (const auto& [key, value] : meta[group].items()) lines += line_of(key, value);
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
