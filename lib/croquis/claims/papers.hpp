// The claims of each paper: a function in claims.cpp of its folder. Not installed; papers() has them all.
#pragma once

#include <croquis/claims/claim.hpp>
#include <croquis/claims/worst_case.hpp>
#include <vector>

namespace croquis::claims {

std::vector<Claim> skyformer_claims();
std::vector<Claim> nystromformer_claims();
std::vector<Claim> linformer_claims();
std::vector<Claim> skeinformer_claims();
std::vector<Claim> nprf_claims();
std::vector<Claim> topk_claims();
std::vector<Claim> vattention_claims();

// The bounds whose worst inputs are searched for: worst_cases.cpp of its folder.
std::vector<SearchedBound> skyformer_bounds();
std::vector<SearchedBound> nystromformer_bounds();
std::vector<SearchedBound> linformer_bounds();
std::vector<SearchedBound> skeinformer_bounds();
std::vector<SearchedBound> nprf_bounds();
std::vector<SearchedBound> topk_bounds();

}  // namespace croquis::claims
