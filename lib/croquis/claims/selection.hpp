// Claims as users name them.
#pragma once

#include <croquis/claims/ledger.hpp>
#include <string>
#include <vector>

namespace croquis::claims {

/// The claims that comma-separated patterns select ("all": every claim), in the order of all_claims(). A pattern is an
/// id, the part of an id before the reading, an id of the first edition, or a glob of these ("sky.*"). Throws
/// std::invalid_argument, whose message begins with `where`, for a pattern that selects no claim.
std::vector<const Claim*> claims_named(const std::string& patterns, const std::string& where = "--claims");

}  // namespace croquis::claims
