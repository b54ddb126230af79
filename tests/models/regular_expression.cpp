#include <doctest/doctest.h>
#include <croquis/models/regular_expression.hpp>
#include <croquis/random/key.hpp>

#include <string>
#include <utility>
#include <vector>

#include "support/refusal.hpp"
#include "support/seed.hpp"
#include "support/text.hpp"

using namespace croquis;

namespace {

using Matches = std::vector<std::pair<std::size_t, std::size_t>>;

Matches matches_of(const std::string& expression, const std::string& text) {
  Matches found;
  RegularExpression(expression).for_each_match(text, [&](std::size_t begin, std::size_t end) {
    found.emplace_back(begin, end);
  });
  return found;
}

std::string refused(const std::string& expression) {
  return refusal([&] { RegularExpression{expression}; });
}

bool is_read(const std::string& expression) {
  return refused(expression) == "nothing was thrown";
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

TEST_CASE("regular expressions: empty matches are matches, as Hugging Face's library finds them") {
  // What find_iter of the crate onig 6.5 gives, with Oniguruma 6.9.8.
  CHECK(matches_of(R"(\d*)", "a1bbb2") == Matches{{0, 0}, {1, 2}, {3, 3}, {4, 4}, {5, 6}});
  CHECK(matches_of("a*", "baac") == Matches{{0, 0}, {1, 3}, {4, 4}});
  // Where an empty match was passed over, the longer one that begins there is passed over too.
  CHECK(matches_of("|b", "bb") == Matches{{0, 0}, {1, 1}, {2, 2}});
  CHECK(matches_of("a|(?=b)|b", "abb") == Matches{{0, 1}, {2, 2}});
  // One step is one character: of two, three and four bytes.
  CHECK(matches_of("x*", "\u00e9\u20ac\U0001f600") == Matches{{0, 0}, {2, 2}, {5, 5}, {9, 9}});
  CHECK(matches_of("b*?", "") == Matches{{0, 0}});
}

TEST_CASE("regular expressions: cuts between characters are where a loop over the text has them") {
  Engine engine = Key(test_seed()).child("cuts").engine();
  const std::string letters = "0123456789aB-";
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (std::size_t length = engine() % 30; length > 0; --length) {
      const std::size_t first = engine() % 2 == 0 ? 10 : letters.size();  // many digits in a row
      text += letters[engine() % first];
    }
    CAPTURE(text);
    Matches thousands, digits, capitals;
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::size_t behind = 0;  // digits from here on
      while (at + behind < text.size() && is_digit(text[at + behind])) ++behind;
      if (behind > 0 && behind % 3 == 0) thousands.emplace_back(at, at);
      if (at > 0 && is_digit(text[at - 1]) && is_digit(text[at])) digits.emplace_back(at, at);
      if (text[at] == 'B') capitals.emplace_back(at, at);
    }
    CHECK(matches_of(R"((?=(\d{3})+(?!\d)))", text) == thousands);
    CHECK(matches_of(R"((?<=\d)(?=\d))", text) == digits);
    CHECK(matches_of(R"((?=\p{Lu}))", text) == capitals);
  }
}

TEST_CASE("regular expressions: what is repeated gives back what the rest needs") {
  // The properties have characters in common: all that are neither letter nor number.
  CHECK(matches_of(R"(\P{L}+\P{N})", "!}") == Matches{{0, 2}});
  CHECK(matches_of(R"(\P{N}*\P{L})", "a!") == Matches{{0, 2}});
  CHECK(matches_of(R"(\P{Lu}+\D)", "3}") == Matches{{0, 2}});
  CHECK(matches_of(R"([^\p{L}]+[^\p{N}])", "--") == Matches{{0, 2}});
}

TEST_CASE("regular expressions: without case, letters of ASCII are read, and none that one character may stand for") {
  CHECK(matches_of("(?i:'s|'LL|[dM])", "'S 'll D m l") == Matches{{0, 2}, {3, 6}, {7, 8}, {9, 10}});
  CHECK(matches_of("(?i:k|s)", "\u212a\u017f") == Matches{{0, 3}, {3, 5}});  // the sign of kelvin, and a long s
  for (const std::string expression :
       {"(?i:'s|'t|'re|'ve|'m|'ll|'d)", "'(?i:[sdmt]|ll|ve|re)", "(?i:ts|if|ls|sx|fs|sf|tt|ii)|ss", "(?i:s|s)(?i:s)",
        "(?i:s't)", "(?i:[xs]|[xt])", "(?i:[xs]a[xt])", "(?i:)", "(?i:a)?b", R"([\p{L}](?i:a)\p{N})"}) {
    CAPTURE(expression);
    CHECK(is_read(expression));
  }
  for (const std::string first : {"s", "f"}) {
    for (const std::string second : {"s", "t", "f", "i", "l", "S", "T", "F", "I", "L"}) {
      const bool one_character = first == "s" ? contains("sStT", second) : contains("fFiIlL", second);
      const std::string capital = first == "s" ? "S" : "F";
      for (const std::string& left : {first, capital, "[" + first + "]", "[a" + capital + "b]"}) {
        for (const std::string& right : {second, "[" + second + "]", "[a" + second + "b]"}) {
          const std::string expression = "(?i:x|a" + left + right + "a)";
          CAPTURE(expression);
          CHECK(is_read(expression) != one_character);
        }
      }
    }
  }
  for (const std::string expression : {R"((?i:\p{Ll}))", R"((?i:[\p{Ll}]))", "(?i:[a-k])", "(?i:[^a])", "(?i:\u00df)",
                                       R"((?i:\x{df}))", "(?i:a+)", "(?i:(?:a))", "(?i:.)", R"((?i:\s))", "(?i:a"}) {
    CAPTURE(expression);
    CHECK(contains(refused(expression), "what begins at character 1 may mean something else in Oniguruma"));
  }
}

TEST_CASE("regular expressions: times of a group, and look-behinds within others, are refused") {
  // (?:(?!A)1?){2}A does not match "1A" in Oniguruma, whose two times end with the first that is empty.
  for (const std::string expression : {R"((?:(?!A)1?){2}A)", "(a){0}b", "(?=a){1}", "(?i:a){2}", R"(a(?<!(?<!)))",
                                       R"((?<!a(?<=b)))", R"((?<=(?:[)]\)(?:a(?<!b)))))"}) {
    CAPTURE(expression);
    CHECK(contains(refused(expression), "may mean something else in Oniguruma"));
  }
  for (const std::string expression : {R"(a{2}[bc]{0,3}\d{2,}\p{L}{1,3}.{6})", "(a{2})+", R"((?<=(?:[(]\(|aa)b)(?<!c))",
                                       R"((?<=[(?<=]x)a)", R"(\)(?:a\)))"}) {
    CAPTURE(expression);
    CHECK(is_read(expression));
  }
}

TEST_CASE("regular expressions: one that is nested deeply is refused in a moment") {
  CHECK(is_read("(?<=" + std::string(240, '(') + "a" + std::string(240, ')') + ")"));  // PCRE2 has 250 at the most
  CHECK(refused("(?<=" + std::string(3'000'000, '(')) == "matching depth limit exceeded");
}
