#include "claims/claim.hpp"

std::vector<Claim> skyformer_claims() {
  return {};
}
