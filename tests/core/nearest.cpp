#include <doctest/doctest.h>
#include <croquis/core/nearest.hpp>

#include <algorithm>
#include <string>

#include "support/capture.hpp"

using namespace croquis;

namespace {

// By its definition, letter by letter from the end.
std::size_t plain_distance(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return std::max(a.size(), b.size());
  const std::string a1 = a.substr(0, a.size() - 1), b1 = b.substr(0, b.size() - 1);
  std::size_t least = plain_distance(a1, b1) + (a.back() == b.back() ? 0 : 1);
  least = std::min({least, plain_distance(a1, b) + 1, plain_distance(a, b1) + 1});
  if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && b.back() == a[a.size() - 2]) {
    least = std::min(least, plain_distance(a.substr(0, a.size() - 2), b.substr(0, b.size() - 2)) + 1);
  }
  return least;
}

}  // namespace

TEST_CASE("edit distance: that of the definition, for all words of at most four letters a and b, and some others") {
  std::vector<std::string> words = {""};
  for (std::size_t i = 0; words[i].size() < 4; ++i) {
    words.push_back(words[i] + "a");
    words.push_back(words[i] + "b");
  }
  for (const char* word : {"heads", "head", "ehad", "sheda", "abc", "cab"}) words.emplace_back(word);
  for (const std::string& a : words) {
    for (const std::string& b : words) {
      CAPTURE_BINDING(a);
      CAPTURE_BINDING(b);
      CHECK(edit_distance(a, b) == plain_distance(a, b));
    }
  }
}

TEST_CASE("nearest: a slip is found, the beginning of a name too, and what is far from all names is none of them") {
  const std::vector<std::string> names = {"v-mean", "best-rank-d", "skyformer", "skeinformer", "nystromformer"};
  CHECK(nearest("skyfromer", names) == "skyformer");
  CHECK(nearest("skeinformr", names) == "skeinformer");
  CHECK(nearest("vmean", names) == "v-mean");
  CHECK(nearest("nystrom", names) == "nystromformer");
  CHECK(nearest("transformer", names) == "");
  CHECK(nearest("", names) == "");
  CHECK(nearest("x", names) == "");
  CHECK(nearest(std::string(100'000, 'x'), names) == "");
  CHECK(nearest("cat", {"bat", "rat"}) == "bat");
  CHECK(nearest("cat", {"rat", "bat"}) == "rat");  // the first of several
  CHECK(nearest("head", {"heady", "heads"}) == "heady");
  CHECK(did_you_mean("skyfromer", names) == "; did you mean 'skyformer'?");
  CHECK(did_you_mean("frobnicate", names) == "");
}
