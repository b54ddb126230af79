// The claims of each paper: a function in claims.cpp of its folder. Not installed; papers() has them all.
#pragma once

#include <croquis/claims/claim.hpp>
#include <vector>

namespace croquis::claims {

std::vector<Claim> skyformer_claims();
std::vector<Claim> nystromformer_claims();
std::vector<Claim> linformer_claims();
std::vector<Claim> skeinformer_claims();
std::vector<Claim> nprf_claims();

}  // namespace croquis::claims
