#include <algorithm>
#include <croquis/claims/claim.hpp>

namespace croquis::claims {

std::uint64_t Check::trials(std::uint64_t full) const {
  if (most_trials) return std::max<std::uint64_t>(2, *most_trials);
  constexpr std::uint64_t factor = 10;
  return std::max<std::uint64_t>(2, quick ? full / factor : thorough ? full * factor : full);
}

Verdict Report::verdict() const {
  return verdict_of(findings);
}

Verdict verdict_of(const std::vector<Finding>& findings) {
  if (findings.empty()) return Verdict::inconclusive;
  for (const Verdict verdict : {Verdict::refuted, Verdict::refuted_proof, Verdict::inconclusive, Verdict::verified,
                                Verdict::holds, Verdict::vacuous}) {
    if (std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.verdict == verdict; })) {
      return verdict;
    }
  }
  return Verdict::not_applicable;
}

}  // namespace croquis::claims
