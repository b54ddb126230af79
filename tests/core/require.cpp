#include <doctest/doctest.h>
#include <croquis/core/require.hpp>

#include <cstdint>
#include <string>

#include "support/refusal.hpp"

using croquis::require;

TEST_CASE("require: the message is 'where: rule, got name = value, ...'") {
  CHECK(refusal([] { require(false, "sketch", "d >= 1"); }) == "sketch: d >= 1");
  CHECK(refusal([] { require(false, "sketch", "d >= 1", {{"d", 0}}); }) == "sketch: d >= 1, got d = 0");
  CHECK(refusal([] {
          require(false, "sketch", "d <= n", {{"d", 9}, {"n", 8}});
        }) == "sketch: d <= n, got d = 9, n = 8");
}

TEST_CASE("require: whole numbers, fractions and names are shown as they are") {
  CHECK(refusal([] { require(false, "f", "r", {{"x", std::int64_t{-3}}}); }) == "f: r, got x = -3");
  CHECK(refusal([] { require(false, "f", "r", {{"x", std::uint64_t{1} << 40}}); }) == "f: r, got x = 1099511627776");
  CHECK(refusal([] {
          require(false, "f", "r", {{"x", (std::uint64_t{1} << 63) - 1}});
        }) == "f: r, got x = 9223372036854775807");
  // More than a long long holds: no negative number.
  CHECK(refusal([] {
          require(false, "f", "r", {{"x", std::uint64_t{1} << 63}});
        }) == "f: r, got x = 9.223372036854776e+18");
  CHECK(refusal([] { require(false, "f", "r", {{"x", true}}); }) == "f: r, got x = 1");
  CHECK(refusal([] { require(false, "f", "r", {{"x", 0.25}}); }) == "f: r, got x = 0.25");
  CHECK(refusal([] { require(false, "f", "r", {{"x", -1.5F}}); }) == "f: r, got x = -1.5");
  CHECK(refusal([] { require(false, "f", "r", {{"x", "name"}}); }) == "f: r, got x = name");
  CHECK(refusal([] { require(false, "f", "r", {{"x", std::string("text")}}); }) == "f: r, got x = text");
}

TEST_CASE("require: control characters in a value do not break the line") {
  CHECK(refusal([] { require(false, "f", "r", {{"x", "a\n\tb\x7f"}}); }) == "f: r, got x = a??b?");
  CHECK(refusal([] { require(false, "f", "r", {{"x", "\u00e9"}}); }) == "f: r, got x = \u00e9");
}

TEST_CASE("require: braces in names and values are text") {
  CHECK(refusal([] { require(false, "{}", "{x}", {{"a", "{b}"}}); }) == "{}: {x}, got a = {b}");
}

TEST_CASE("require: what holds passes") {
  CHECK_NOTHROW(require(true, "f", "r", {{"x", 1}}));
}
