#include <fmt/format.h>
#include <pybind11/stl.h>

#include <chrono>
#include <croquis/claims/claim_rows.hpp>
#include <croquis/claims/ledger.hpp>
#include <croquis/claims/selection.hpp>
#include <croquis/claims/thresholds.hpp>
#include <optional>
#include <string>
#include <vector>

#include "calls.hpp"
#include "module.hpp"
#include "problems.hpp"
#include "rows.hpp"

namespace {

using namespace croquis::claims;
using Clock = std::chrono::steady_clock;

std::vector<ClaimRow> rows_of_claims(const std::vector<const Claim*>& claims, const Ledger& ledger,
                                     std::uint64_t seed) {
  std::vector<ClaimRow> rows;
  for (const Claim* claim : claims) {
    const auto start = Clock::now();
    const LedgerEntry entry = ledger.decide(*claim);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    for (ClaimRow& row : rows_of(*claim, entry, seconds)) {
      row.seed = seed;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// `head` is None, or (Q, K, V, head_options, name).
py::dict verify_claims(const std::string& names, const std::optional<py::tuple>& head, double confidence, bool quick,
                       bool thorough, const std::optional<std::uint64_t>& trials, std::uint64_t seed) {
  const auto claims = claims_named(names, "claims");
  std::optional<Subject> subject;
  if (head) {
    const HeadArguments given((*head)[0], (*head)[1], (*head)[2], (*head)[3].cast<py::dict>());
    subject.emplace(Subject{(*head)[4].cast<std::string>(), given.problem<double>()});
  }
  const auto rows = call([&](Signals& signals) {
    const LedgerOptions options{
        .confidence = confidence, .quick = quick, .thorough = thorough, .most_trials = trials, .interrupted = [&] {
          return signals.stop_requested();
        }};
    const croquis::Key key = ledger_key(seed);
    const Ledger ledger = subject ? Ledger(*subject, options, key) : Ledger(options, key);
    return rows_of_claims(claims, ledger, seed);
  });
  return columns_of(claim_columns(), rows);
}

// The lines of thresholds.csv that a claim is decided with. Their values are fixed: the only ones are the default.
py::list thresholds_of(const Claim& claim) {
  py::list options;
  for (const Threshold& line : thresholds()) {
    if (find_threshold(claim.id, line.quantity) != &line.values) continue;
    const std::string values = fmt::format("{}", fmt::join(line.values, " "));
    options.append(py::make_tuple(line.quantity, values, values, line.reason));
  }
  return options;
}

py::list list_claims() {
  py::list list;
  for (const Claim& claim : all_claims()) {
    py::dict entry;
    entry["name"] = claim.id;
    entry["kind"] = claim.kind;
    entry["source"] = claim.source;
    entry["target"] = claim.sentence_id();
    entry["options"] = thresholds_of(claim);
    entry["doc"] = claim.statement;
    entry["reading"] = claim.reading;
    entry["hypotheses"] = claim.hypotheses;
    entry["proof"] = claim.proof;
    list.append(entry);
  }
  return list;
}

}  // namespace

void add_claims(py::module_& module) {
  module.def("verify", &verify_claims);
  module.def("claims", &list_claims);
}
