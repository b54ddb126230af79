#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <croquis/claims/selection.hpp>
#include <croquis/core/choices.hpp>
#include <croquis/core/nearest.hpp>
#include <stdexcept>

namespace croquis::claims {
namespace {

// Whether a pattern means the claim: by its id, by that of its sentence (without the reading) or by a former id.
bool means(const std::string& pattern, const Claim& claim) {
  std::vector<std::string> names = claim.formerly;
  names.push_back(claim.id);
  names.push_back(claim.sentence_id());
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
}

}  // namespace

std::vector<const Claim*> claims_named(const std::string& patterns, const std::string& where) {
  const std::vector<std::string> items =
      patterns == "all" ? std::vector<std::string>{"*"} : split_list(patterns, where);
  std::vector<bool> used(items.size());
  std::vector<const Claim*> chosen;
  std::vector<std::string> ids;
  for (const Claim& claim : all_claims()) {
    ids.push_back(claim.id);
    ids.push_back(claim.sentence_id());
    bool wanted = false;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (means(items[i], claim)) wanted = used[i] = true;
    }
    if (wanted) chosen.push_back(&claim);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!used[i]) {
      throw std::invalid_argument(fmt::format("{}: no claim is called '{}'{}; croquis list claims has them", where,
                                              items[i], did_you_mean(items[i], ids)));
    }
  }
  return chosen;
}

}  // namespace croquis::claims
