// What the pages point to is there, and every page can be found.
#include <doctest/doctest.h>
#include <croquis/attention/method.hpp>
#include <croquis/claims/ledger.hpp>
#include <croquis/sketch/distributions.hpp>

#include <cctype>
#include <regex>
#include <set>

#include "docs/pages.hpp"
#include "support/program.hpp"

namespace {

struct Link {
  std::filesystem::path target;  ///< from the root of the project
  std::string anchor;
};

std::vector<Link> links_of(const Page& page) {
  static const std::regex pattern(R"(\]\(([^)\s]+)\))"), code("`[^`]*`");
  std::vector<Link> links;
  for (const std::string& line : page.prose) {
    const std::string text = std::regex_replace(line, code, "code");
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
      const std::string url = (*match)[1];
      if (url.starts_with("http://") || url.starts_with("https://")) continue;
      const std::size_t hash = std::min(url.find('#'), url.size());
      const std::string file = url.substr(0, hash);
      links.push_back({file.empty() ? page.path : (page.path.parent_path() / file).lexically_normal(),
                       hash < url.size() ? url.substr(hash + 1) : ""});
    }
  }
  return links;
}

// A heading's anchor, as GitHub and Python-Markdown both make it of ASCII letters.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      anchor += static_cast<char>(std::tolower(c));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

bool has_anchor(const Page& page, const std::string& anchor) {
  return std::any_of(page.prose.begin(), page.prose.end(), [&](const std::string& line) {
    const std::size_t text = line.find_first_not_of('#');
    return line.starts_with("#") && text != std::string::npos && anchor_of(line.substr(text + 1)) == anchor;
  });
}

const Page* page_at(const std::filesystem::path& path) {
  for (const Page& page : all_pages()) {
    if (page.path == path || page.path == path / "README.md") return &page;
  }
  return nullptr;
}

std::string whole(const char* path) {
  return read_text(project_root() / path);
}

}  // namespace

TEST_CASE("pages: every link leads to a file, every anchor to a heading") {
  int links = 0;
  for (const Page& page : all_pages()) {
    for (const Link& link : links_of(page)) {
      CAPTURE(page.path.string());
      CAPTURE(link.target.string());
      CAPTURE(link.anchor);
      ++links;
      CHECK(std::filesystem::exists(project_root() / link.target));
      if (link.anchor.empty()) continue;
      const Page* target = page_at(link.target);
      REQUIRE(target != nullptr);
      CHECK(has_anchor(*target, link.anchor));
    }
  }
  CHECK(links > 100);  // or links are no longer recognised
}

TEST_CASE("pages: every page can be reached from the README, and every picture is shown") {
  std::set<std::filesystem::path> seen, shown;
  std::vector<const Page*> open = {page_at("README.md")};
  while (!open.empty()) {
    const Page* page = open.back();
    open.pop_back();
    if (!seen.insert(page->path).second) continue;
    for (const Link& link : links_of(*page)) {
      shown.insert(link.target);
      if (const Page* target = page_at(link.target)) open.push_back(target);
    }
  }
  for (const Page& page : all_pages()) {
    CAPTURE(page.path.string());
    CHECK(seen.contains(page.path));
  }
  for (const auto& entry : std::filesystem::recursive_directory_iterator(project_root() / "docs/images")) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".svg" && extension != ".png") continue;
    CAPTURE(entry.path().string());
    CHECK(shown.contains(entry.path().lexically_relative(project_root())));
  }
}

TEST_CASE(
    "pages: one of every method and sketch, a line of every claim, all in the site's contents; verdicts are the "
    "expected ones") {
  for (const auto& method : croquis::methods<double>()) {
    CAPTURE(method.name);
    CHECK(page_at("docs/methods/" + method.name + ".md") != nullptr);
  }
  for (const auto& distribution : croquis::sketch_distributions<double>()) {
    CAPTURE(distribution.name);
    CHECK(page_at("docs/sketches/" + distribution.name + ".md") != nullptr);
  }
  const std::string ledger = whole("docs/claims.md"), contents = whole("docs/mkdocs.yml");
  for (const croquis::claims::Claim& claim : croquis::claims::all_claims()) {
    CAPTURE(claim.id);
    // What a default run gives: tests/claims/defaults.cpp.
    const std::string verdict(croquis::verdict_name(claim.expected));
    CHECK(ledger.find("| `" + claim.id + "` | " + verdict + " | ") != std::string::npos);
  }
  for (const Page& page : all_pages()) {
    CAPTURE(page.path.string());
    CHECK(contents.find(": " + page.path.string() + "\n") != std::string::npos);
  }
}

TEST_CASE("pages: files of the project, options and claims that the prose names in code are there") {
  static const std::regex span("`([^`]+)`"), file(R"((lib|apps|docs|tests|experiments|cmake)/[\w./-]+)"),
      option("--[a-z][a-z-]+"), claim(R"((sky|nys|lin|ske|rpe)\.[\w./-]+)");
  std::string help;
  for (const char* command : {"error", "verify", "variance", "spectrum", "dimension", "cost", "choose", "gradient",
                              "model", "list", "sketch", "plot", "show", "report"}) {
    help += run_croquis(std::string(command) + " --help", "/").output;
  }
  help += run_croquis("--help", "/").output;
  std::set<std::string> claims;
  for (const croquis::claims::Claim& one : croquis::claims::all_claims()) claims.insert(one.id);
  int named = 0;
  for (const Page& page : all_pages()) {
    for (const std::string& line : page.prose) {
      for (std::sregex_iterator match(line.begin(), line.end(), span), end; match != end; ++match) {
        const std::string text = (*match)[1], first = text.substr(0, text.find(' '));
        CAPTURE(page.path.string());
        CAPTURE(text);
        if (std::regex_match(first, file)) CHECK(std::filesystem::exists(project_root() / first));
        if (std::regex_match(first, option)) CHECK(help.find(first) != std::string::npos);
        if (std::regex_match(text, claim)) CHECK(claims.contains(text));
        if (std::regex_match(first, file) || std::regex_match(first, option) || std::regex_match(text, claim)) ++named;
      }
    }
  }
  CHECK(named > 200);  // or they are no longer recognised
}

TEST_CASE("pages: no conflict marker is left, no tab, no trailing blank") {
  for (const Page& page : all_pages()) {
    CAPTURE(page.path.string());
    const std::string text = whole(page.path.string().c_str());
    for (const char* mark : {"\n<<<<<<< ", "\n=======\n", "\n>>>>>>> ", "\t", " \n"}) {
      CAPTURE(mark);
      CHECK(text.find(mark) == std::string::npos);
    }
  }
}
