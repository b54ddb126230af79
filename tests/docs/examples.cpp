// The code that the pages show is that of docs/examples/, which is built and run.
#include <doctest/doctest.h>

#include <sstream>

#include "docs/pages.hpp"
#include "support/files.hpp"
#include "support/text.hpp"

namespace {

// The lines that say something, without their indentation.
template <typename Lines>
std::string essence(const Lines& lines) {
  std::string text = "\n";
  for (const std::string& line : lines) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos) text += line.substr(first) + "\n";
  }
  return text;
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::istringstream text(read_text(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("pages: every block of C++ or Python is a stretch of a file in docs/examples/, each of which is shown") {
  std::vector<std::pair<std::string, bool>> examples;  // and whether a page shows a part
  for (const auto& entry : std::filesystem::directory_iterator(project_root() / "docs/examples")) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".cpp" || extension == ".py") examples.emplace_back(essence(lines_of(entry.path())), false);
  }
  for (const Page& page : all_pages()) {
    for (const CodeBlock& block : page.blocks) {
      if (block.language != "cpp" && block.language != "python") continue;
      bool found = false;
      for (auto& [text, shown] : examples) {
        if (text.find(essence(block.lines)) == std::string::npos) continue;
        found = shown = true;
      }
      CAPTURE(page.path.string());
      CHECK_MESSAGE(found, block.lines.front());
    }
  }
  for (const auto& example : examples) CHECK_MESSAGE(example.second, example.first.substr(0, 100));
}
