#include "report/page.hpp"

#include <fmt/format.h>

#include <croquis/core/version.hpp>
#include <filesystem>

#include "files/escape.hpp"
#include "report/chart_html.hpp"
#include "report/page_parts.hpp"
#include "report/run_html.hpp"
#include "report/table_html.hpp"

namespace {

std::string policy() {
  return fmt::format(
      "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
      base64_of_hex(page_script().sha256), base64_of_hex(page_style().sha256));
}

std::string name_of_file(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

std::string section_html(const ReportedFile& file, std::size_t number) {
  const Section& section = file.section;
  std::string text = fmt::format(
      "<section id=\"result-{}\">\n<h2>{}: <code>{}</code></h2>\n<p class=\"subject\">{}; croquis {}{}</p>\n", number,
      html(capitalised(file.summary)), html(name_of_file(file.path)), html(section.subject), html(file.command),
      fmt::format(", {} row{}", file.rows, file.rows == 1 ? "" : "s"));
  if (!section.answers.empty()) {
    text += "<ul class=\"answers\">\n";
    for (const std::string& answer : section.answers) text += fmt::format("<li>{}</li>\n", html(answer));
    text += "</ul>\n";
  }
  for (const ReportTable& table : section.tables) {
    if (is_answer(table)) text += html_of_table(table);
  }
  for (std::size_t i = 0; i < section.charts.size(); ++i) {
    text += html_of_chart(section.charts[i], fmt::format("chart-{}-{}", number, i + 1));
  }
  for (const HeadMaps& maps : section.maps) text += html_of_maps(maps);
  for (const ReportTable& table : section.tables) {
    if (!is_answer(table)) text += html_of_table(table);
  }
  return text + html_of_run(file.path, file.changed) + "</section>\n";
}

}  // namespace

std::string html_of_report(const std::vector<ReportedFile>& files, const std::string& title) {
  std::string list, sections;
  for (std::size_t i = 0; i < files.size(); ++i) {
    list += fmt::format("<li><a href=\"#result-{}\">{}: {}</a></li>\n", i + 1, html(capitalised(files[i].summary)),
                        html(name_of_file(files[i].path)));
    sections += section_html(files[i], i + 1);
  }
  if (files.size() > 1) list = fmt::format("<nav aria-label=\"Results\"><ul>\n{}</ul></nav>\n", list);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n"
      "<style>{}</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n</header>\n{}<main>\n{}</main>\n"
      "<footer>Made by Croquis {}. Numbers stand in the CSV files with all digits; this page has aggregates. * "
      "heavy-tailed: few draws decide the mean.</footer>\n<script>{}</script>\n</body>\n</html>\n",
      policy(), html(title), page_style().text, html(title), files.size() > 1 ? list : "", sections, CROQUIS_VERSION,
      page_script().text);
}
