#include "commands/verify/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <croquis/claims/ledger.hpp>
#include <croquis/io/bytes.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "files/progress.hpp"
#include "files/text_table.hpp"
#include "options/said_of.hpp"

using namespace croquis::claims;

namespace {

constexpr const char* kDecidedElsewhere =
    "Decided on examples of their own, not on this input (column input of the rows)";

}  // namespace

std::vector<LedgerLine> lines_of(const std::vector<ClaimRow>& rows) {
  std::vector<LedgerLine> ledger;
  for (const ClaimRow& row : rows) {
    if (row.input != kWholeInput) continue;
    ledger.push_back(
        {row.claim, row.verdict, std::isnan(row.estimate) ? "" : fmt::format("{:.4g}", row.estimate), row.hypotheses});
  }
  return ledger;
}

void print_ledger(const std::vector<LedgerLine>& ledger, bool markdown) {
  if (markdown) {
    fmt::print("| claim | verdict | number | what was found |\n| --- | --- | --- | --- |\n");
    for (const LedgerLine& l : ledger) {
      std::string sentence = l.sentence;  // whose | would end a cell
      for (std::size_t at = 0; (at = sentence.find('|', at)) != std::string::npos; at += 2)
        sentence.insert(at, 1, '\\');
      fmt::print("| `{}` | {} | {} | {} |\n", l.id, l.verdict, l.number, sentence);
    }
    return;
  }
  TextTable table({{TextColumn::Side::left, 5}, {TextColumn::Side::left, 14}, {TextColumn::Side::right, 10}, {}});
  table.add({"claim", "verdict", "number", "what was found"});
  for (const LedgerLine& l : ledger) table.add({l.id, l.verdict, l.number, l.sentence});
  fmt::print("\n{}\n", table.text());
  fmt::print(
      "For each row with a number in the column confidence, the probability that its verdict is wrong about the\n"
      "failure rate of this input and this distribution is bounded; all rows together by 1 - --confidence. Means and\n"
      "medians of draws that are compared, inputs not run, the choice of a reading and the correctness of proofs are\n"
      "not covered.\n");
}

std::vector<std::string> decided_elsewhere(const std::vector<ClaimRow>& rows, const std::vector<std::string>& inputs) {
  const auto is_on_one = [&](const std::string& input) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const std::string& name) { return input == name || input.starts_with(name + " "); });
  };
  std::vector<std::string> claims;
  for (const ClaimRow& whole : rows) {
    if (whole.input != kWholeInput) continue;
    bool any = false, on_one = false;
    for (const ClaimRow& row : rows) {
      if (row.claim != whole.claim || row.input == kWholeInput || row.verdict != whole.verdict) continue;
      any = true;
      on_one = on_one || is_on_one(row.input);
    }
    if (any && !on_one) claims.push_back(whole.claim);
  }
  return claims;
}

std::string sentence_of_elsewhere(const std::vector<std::string>& claims) {
  if (claims.empty()) return "";
  return fmt::format("{}: {}.", kDecidedElsewhere, fmt::join(claims, ", "));
}

void print_decided_elsewhere(const std::vector<std::string>& claims) {
  if (claims.empty()) return;
  constexpr std::size_t width = 110;
  fmt::print("{}:\n", kDecidedElsewhere);
  std::string line = " ";
  for (const std::string& claim : claims) {
    if (line.size() > 1 && line.size() + 1 + claim.size() > width) {
      fmt::print("{}\n", line);
      line = " ";
    }
    line += " " + claim;
  }
  fmt::print("{}\n", line);
}

std::map<std::string, std::string> read_expected(const std::string& path) {
  std::map<std::string, std::string> expected;
  if (path.empty()) return expected;
  std::istringstream file(croquis::read_bytes(path));
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string id, verdict, more;
    if (!(words >> id)) continue;
    if (!(words >> verdict) || (words >> more)) {
      throw std::invalid_argument(
          fmt::format("--expect: {}, line {}: '{}' is not a claim and its verdict", path, number, line));
    }
    try {
      id = find_claim(id).id;
    } catch (const std::invalid_argument& wrong) {
      throw std::invalid_argument(fmt::format("--expect: {}, line {}: {}", path, number, wrong.what()));
    }
    said_of(fmt::format("--expect: {}, line {}, the verdict", path, number),
            [&] { return croquis::verdict_from_name(verdict); });
    expected[id] = verdict;
  }
  if (expected.empty()) {
    throw std::invalid_argument(
        fmt::format("--expect: {}: has no claim and its verdict, so that nothing would be compared", path));
  }
  return expected;
}

void warn_of_broken(const std::vector<LedgerLine>& ledger) {
  std::vector<std::string> broken;
  for (const LedgerLine& l : ledger) {
    if (l.sentence.starts_with(kBrokeDown)) broken.push_back(l.id);
  }
  if (broken.empty()) return;
  say(fmt::format("croquis verify: warning: the check of {} claim{} broke down, which says nothing about {}: {}\n",
                  broken.size(), broken.size() == 1 ? "" : "s", broken.size() == 1 ? "it" : "them",
                  fmt::join(broken, ", ")));
}

bool print_unexpected(const std::vector<LedgerLine>& ledger, const std::map<std::string, std::string>& expected) {
  bool any = false;
  for (const LedgerLine& l : ledger) {
    const auto found = expected.find(l.id);
    if (found == expected.end() || found->second == l.verdict) continue;
    say(fmt::format("croquis verify: {} is {}, expected {}\n", l.id, l.verdict, found->second));
    any = true;
  }
  for (const auto& [id, verdict] : expected) {
    const auto is_it = [&id = id](const LedgerLine& l) { return l.id == id; };
    if (std::any_of(ledger.begin(), ledger.end(), is_it)) continue;
    say(fmt::format("croquis verify: {} was not decided, expected {}\n", id, verdict));
    any = true;
  }
  return any;
}

namespace {

// Of "claim!change": the claim, and the change where it is a rung of its ladder.
std::pair<const Claim*, const Rung*> changed_claim(const std::string& id) {
  const std::size_t mark = id.find('!');
  const Claim& claim = find_claim(id.substr(0, mark));
  const auto rung = std::find_if(claim.ladder.begin(), claim.ladder.end(),
                                 [&](const Rung& one) { return one.name == id.substr(mark + 1); });
  return {&claim, rung == claim.ladder.end() ? nullptr : &*rung};
}

}  // namespace

void print_survivors(const std::vector<LedgerLine>& ledger) {
  std::string survivors;
  for (const LedgerLine& l : ledger) {
    const Rung* rung = changed_claim(l.id).second;
    if (rung != nullptr && rung->survives) survivors += fmt::format("  {}: {}; {}\n", l.id, rung->change, rung->fate);
  }
  if (!survivors.empty())
    fmt::print("\nNo mistakes but weakened bounds, which no input is known to refute:\n{}", survivors);
}

bool print_unnoticed(const std::vector<LedgerLine>& ledger) {
  bool any = false;
  for (const LedgerLine& l : ledger) {
    const auto [claim, rung] = changed_claim(l.id);
    const bool survives = rung != nullptr && rung->survives;
    const bool kept = l.verdict == verdict_name(claim->expected);
    // What survives may be undecided for too few draws: that does not turn the verdict.
    if (survives ? kept || l.verdict == verdict_name(croquis::Verdict::inconclusive) : !kept) continue;
    say(fmt::format("croquis verify: {} {} the verdict {}: {}\n", l.id, survives ? "turns" : "leaves",
                    verdict_name(claim->expected),
                    survives ? "the ledger says that it survives" : "the mistake was not noticed"));
    any = true;
  }
  return any;
}
