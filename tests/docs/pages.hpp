// The project's Markdown pages, read as far as the tests need it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// A code block, fenced or indented by four spaces, without its indentation.
struct CodeBlock {
  std::string language;  ///< of a fence; empty otherwise
  std::vector<std::string> lines;
};

struct Page {
  std::filesystem::path path;      ///< from the root of the project
  std::vector<CodeBlock> blocks;   ///< in order
  std::vector<std::string> prose;  ///< the other lines
};

std::filesystem::path project_root();

/// README.md and every Markdown page below docs/ and experiments/, in the order of their names.
const std::vector<Page>& all_pages();
