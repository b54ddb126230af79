// The tables of a page of results.
#pragma once

#include <regex>
#include <string>
#include <vector>

/// The cells of the row of the page's tables that begins with these two.
inline std::vector<std::string> cells_after(const std::string& page, const std::string& curve,
                                            const std::string& second) {
  static const std::regex cell("<t[hd][^>]*>([^<]*)</t[hd]>");
  for (std::size_t at = page.find("<tr><th scope=\"row\">" + curve + "<"); at != std::string::npos;
       at = page.find("<tr><th scope=\"row\">" + curve + "<", at + 1)) {
    const std::string row = page.substr(at, page.find("</tr>", at) - at);
    std::vector<std::string> cells;
    for (std::sregex_iterator match(row.begin(), row.end(), cell), end; match != end; ++match) {
      cells.push_back((*match)[1]);
    }
    if (cells.size() > 2 && (cells[1] == second || cells[2] == second)) return cells;
  }
  return {};
}
