// The file of what was fixed beforehand.
#include <doctest/doctest.h>
#include <croquis/claims/ledger.hpp>
#include <croquis/claims/thresholds.hpp>

#include <set>
#include <tuple>

#include "support/refusal.hpp"
#include "support/text.hpp"

using namespace croquis::claims;

namespace {

Check check_of(const std::string& id, bool quick) {
  return Ledger({.quick = quick}, croquis::Key(1)).check_of(find_claim(id));
}

}  // namespace

TEST_CASE("thresholds: every line belongs to readings of the ledger, has numbers and a reason, and is the only one") {
  std::set<std::string> sentences = {"search", "quantile"}, readings;
  for (const Claim& claim : all_claims()) {
    sentences.insert(claim.sentence_id());
    readings.insert(claim.id);
  }
  std::set<std::tuple<std::string, std::string, std::string>> lines;
  for (const Threshold& line : thresholds()) {
    CAPTURE(line.quantity);
    CHECK_FALSE(line.values.empty());
    CHECK_FALSE(line.reason.empty());
    REQUIRE_FALSE(line.claims.empty());
    for (const std::string& sentence : line.claims) {
      CAPTURE(sentence);
      CHECK(sentences.contains(sentence));
      if (line.reading != "*") CHECK(readings.contains(sentence + "/" + line.reading));
      CHECK(lines.emplace(sentence, line.reading, line.quantity).second);
    }
  }
  CHECK(thresholds().size() > 200);
}

TEST_CASE("Check: numbers of a reading come before those of its sentence, and those of quick mode before both") {
  CHECK(check_of("lin.thm1/oblivious", false).values("tokens") == std::vector<double>{512, 2048, 8192});
  CHECK(check_of("lin.thm1/oblivious", false).value("epsilon") == 0.5);  // of all readings
  CHECK(check_of("lin.thm1/corrected", false).count("tokens") == 256);
  CHECK(check_of("lin.thm1/corrected", true).count("tokens") == 128);
  CHECK(check_of("lin.thm1/corrected", true).stated("delta") == "delta = 0.1");
  CHECK(contains(refusal([] { check_of("lin.thm1/oblivious", false).value("tokens"); }), "has 3 values"));
  CHECK(contains(refusal([] { check_of("lin.thm1/oblivious", false).value("colour"); }), "none for colour"));
  CHECK(find_threshold("lin.thm1", "epsilon") != nullptr);
  CHECK(find_threshold("own.claim", "epsilon") == nullptr);
}
