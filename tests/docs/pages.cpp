#include "docs/pages.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace {

const std::string kIndent = "    ";

bool is_blank(const std::string& line) {
  return line.find_first_not_of(" \t") == std::string::npos;
}

Page read_page(const std::filesystem::path& path) {
  std::ifstream file(project_root() / path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);

  Page page{path, {}, {}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("```")) {
      CodeBlock block{lines[i].substr(3), {}};
      for (++i; i < lines.size() && !lines[i].starts_with("```"); ++i) block.lines.push_back(lines[i]);
      page.blocks.push_back(std::move(block));
    } else if (lines[i].starts_with(kIndent) && (i == 0 || is_blank(lines[i - 1]))) {
      CodeBlock block;
      for (; i < lines.size() && (is_blank(lines[i]) || lines[i].starts_with(kIndent)); ++i) {
        block.lines.push_back(is_blank(lines[i]) ? "" : lines[i].substr(kIndent.size()));
      }
      --i;
      page.blocks.push_back(std::move(block));
    } else {
      page.prose.push_back(lines[i]);
    }
  }
  return page;
}

}  // namespace

std::filesystem::path project_root() {
  return CROQUIS_SOURCE;
}

const std::vector<Page>& all_pages() {
  static const std::vector<Page> pages = [] {
    std::vector<std::filesystem::path> paths = {"README.md"};
    for (const char* folder : {"docs", "experiments"}) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(project_root() / folder)) {
        if (entry.path().extension() == ".md") paths.push_back(entry.path().lexically_relative(project_root()));
      }
    }
    std::sort(paths.begin() + 1, paths.end());
    std::vector<Page> read;
    read.reserve(paths.size());
    for (const auto& path : paths) read.push_back(read_page(path));
    return read;
  }();
  return pages;
}
