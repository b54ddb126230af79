#include <fmt/format.h>

#include <algorithm>
#include <croquis/claims/claim.hpp>
#include <croquis/claims/thresholds.hpp>
#include <stdexcept>

namespace croquis::claims {

std::string Check::of_own(const std::string& input) const {
  return own_input ? subjects.front().name + " " + input : input;
}

std::uint64_t Check::trials(std::uint64_t full) const {
  if (most_trials) return std::max<std::uint64_t>(2, *most_trials);
  constexpr std::uint64_t factor = 10;
  return std::max<std::uint64_t>(2, quick ? full / factor : thorough ? full * factor : full);
}

const std::vector<double>& Check::values(std::string_view quantity) const {
  if (quick) {
    if (const auto* found = find_threshold(claim, fmt::format("{} (quick)", quantity))) return *found;
  }
  if (const auto* found = find_threshold(claim, quantity)) return *found;
  throw std::invalid_argument(fmt::format("thresholds.csv: none for {} of {}", quantity, claim));
}

std::vector<arma::uword> Check::counts(std::string_view quantity) const {
  const std::vector<double>& numbers = values(quantity);
  return {numbers.begin(), numbers.end()};
}

double Check::value(std::string_view quantity) const {
  const std::vector<double>& numbers = values(quantity);
  if (numbers.size() == 1) return numbers.front();
  throw std::invalid_argument(
      fmt::format("thresholds.csv: {} of {} has {} values, not one", quantity, claim, numbers.size()));
}

arma::uword Check::count(std::string_view quantity) const {
  return static_cast<arma::uword>(value(quantity));
}

std::string Check::stated(std::string_view quantity) const {
  return fmt::format("{} = {:g}", quantity, value(quantity));
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
