#include "claims/claim.hpp"

std::vector<Claim> nprf_claims() {
  return {};
}
