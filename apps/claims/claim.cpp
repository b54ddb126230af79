#include "claims/claim.hpp"

#include <algorithm>

using croquis::Verdict;

std::uint64_t Check::trials(std::uint64_t full) const {
  if (most_trials) return std::max<std::uint64_t>(2, *most_trials);
  constexpr std::uint64_t quick_share = 10;
  return std::max<std::uint64_t>(2, quick ? full / quick_share : full);
}

Verdict verdict_of(const std::vector<Finding>& findings) {
  for (const Verdict verdict : {Verdict::refuted, Verdict::inconclusive, Verdict::verified, Verdict::vacuous}) {
    if (std::any_of(findings.begin(), findings.end(), [&](const Finding& f) { return f.verdict == verdict; })) {
      return verdict;
    }
  }
  return Verdict::not_applicable;
}

croquis::Problem<double> first_tokens(const croquis::Problem<double>& problem, arma::uword n) {
  if (n >= problem.n()) return {problem.Q(), problem.K(), problem.V()};
  return {problem.Q().head_rows(n), problem.K().head_rows(n), problem.V().head_rows(n)};
}

const std::vector<Claim>& all_claims() {
  static const std::vector<Claim> claims = [] {
    std::vector<Claim> all;
    for (const auto& paper :
         {skyformer_claims(), nystromformer_claims(), linformer_claims(), skeinformer_claims(), nprf_claims()}) {
      all.insert(all.end(), paper.begin(), paper.end());
    }
    return all;
  }();
  return claims;
}
