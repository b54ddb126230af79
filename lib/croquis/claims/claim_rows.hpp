// The ledger as rows: what `croquis verify` writes.
#pragma once

#include <croquis/claims/ledger.hpp>
#include <croquis/measure/columns.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace croquis::claims {

/// A finding, or with the input kWholeInput the verdict on the whole claim; the columns say what each member is.
struct ClaimRow {
  std::string claim, verdict, kind, source, input;
  std::optional<std::uint64_t> n, p, d, trials, failures;
  double estimate = Finding::kNone, ci_lo = Finding::kNone, ci_hi = Finding::kNone, confidence = Finding::kNone;
  double bound = Finding::kNone, observed = Finding::kNone, slack = Finding::kNone;
  double power = Finding::kNone, tightness_lo = Finding::kNone, tightness_hi = Finding::kNone;
  std::string trivial, threshold, conceded, reading;
  std::string hypotheses;
  std::uint64_t seed = 0;
  double seconds = Finding::kNone;
  std::optional<std::uint64_t> sequence, layer, head;
};

const Columns<ClaimRow>& claim_columns();

/// The findings of an entry, then the row of the whole claim, which has `seconds`. `seed` is left 0 for the caller to
/// set.
std::vector<ClaimRow> rows_of(const Claim& claim, const LedgerEntry& entry, double seconds);

}  // namespace croquis::claims
