#include "report/table_html.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "files/escape.hpp"

namespace {

constexpr std::size_t kShortTable = 30;

// The classes that the style sheet has for verdicts and statuses.
std::string class_of(const ReportCell& cell, bool is_number) {
  static const std::set<std::string> verdicts = {"VERIFIED",       "HOLDS",   "REFUTED",
                                                 "REFUTED_PROOF",  "VACUOUS", "INCONCLUSIVE",
                                                 "NOT_APPLICABLE", "chosen",  "undecided"};
  constexpr std::size_t sentence = 40;
  if (is_number) return " class=\"n\"";
  if (cell.text.size() > sentence) return " class=\"long\"";
  return verdicts.contains(cell.text) ? fmt::format(" class=\"{}\"", cell.text) : "";
}

std::string sort_key(const ReportCell& cell) {
  if (std::isnan(cell.order)) return "";
  if (std::isinf(cell.order)) return cell.order > 0 ? " data-v=\"Infinity\"" : " data-v=\"-Infinity\"";
  return fmt::format(" data-v=\"{:.6g}\"", cell.order);
}

}  // namespace

bool is_answer(const ReportTable& table) {
  return table.columns.size() > 1 && table.columns[1].name == "verdict";
}

std::string html_of_table(const ReportTable& table) {
  std::string head, body;
  for (const ReportColumn& column : table.columns) {
    head += fmt::format("<th scope=\"col\"{}{}>{}</th>", column.is_number ? " class=\"n\"" : "",
                        column.meaning.empty() ? "" : fmt::format(" title=\"{}\"", html(column.meaning)),
                        html(column.name));
  }
  for (const auto& row : table.rows) {
    body += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool number = table.columns[c].is_number;
      const std::string tag = c == 0 ? "th scope=\"row\"" : "td";
      body += fmt::format("<{}{}{}>{}</{}>", tag, class_of(row[c], number), sort_key(row[c]), html(row[c].text),
                          c == 0 ? "th" : "td");
    }
    body += "</tr>\n";
  }
  return fmt::format(
      "<details class=\"numbers\"{}><summary>{} ({} row{})</summary>\n<div class=\"scroll\" tabindex=\"0\" "
      "role=\"region\" "
      "aria-label=\"{}\"><table class=\"sortable\"><caption>{}</caption><thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>"
      "</table></div></details>",
      is_answer(table) || table.rows.size() <= kShortTable ? " open" : "", html(table.title), table.rows.size(),
      table.rows.size() == 1 ? "" : "s", html(table.title), html(table.meaning), head, body);
}
