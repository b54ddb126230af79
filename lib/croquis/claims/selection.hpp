// Claims as users name them.
#pragma once

#include <croquis/claims/ledger.hpp>
#include <string>
#include <vector>

namespace croquis::claims {

/// The claims that patterns between commas mean, in the order of all_claims(), or "all": each an id, the part of ids
/// before the reading, an id of the first edition, or a glob of these ("sky.*"). Throws std::invalid_argument,
/// beginning with `where`, for a pattern that means no claim.
std::vector<const Claim*> claims_named(const std::string& patterns, const std::string& where = "--claims");

}  // namespace croquis::claims
