// Claims decided on heads of a test's own.
#pragma once

#include <doctest/doctest.h>

#include <croquis/claims/ledger.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/seed.hpp"
#include "support/text.hpp"

/// In quick mode on these heads; on those of the ledger where there are none.
inline croquis::claims::LedgerEntry decided(const std::string& id, std::vector<croquis::claims::Subject> heads = {},
                                            std::string_view mutant = "") {
  using croquis::claims::Ledger;
  const croquis::claims::LedgerOptions options{.quick = true};
  const croquis::Key key(test_seed());
  const Ledger ledger = heads.empty() ? Ledger(options, key) : Ledger(std::move(heads), options, key);
  return ledger.decide(croquis::claims::find_claim(id), mutant);
}

/// That no row of the claim on a head of one's own has anything that its errors are relative to.
inline void check_nothing_to_compare(const std::string& id, const croquis::Problem<double>& problem) {
  CAPTURE(id);
  const croquis::claims::LedgerEntry entry = decided(id, {{"own", problem}});
  CHECK_MESSAGE(entry.whole.verdict == croquis::Verdict::not_applicable, entry.whole.hypotheses);
  CHECK_FALSE(entry.findings.empty());
  for (const croquis::claims::Finding& finding : entry.findings) {
    CHECK(finding.verdict == croquis::Verdict::not_applicable);
    CHECK(contains(finding.hypotheses, "nothing to compare with"));
  }
}
