#include "claims/claim.hpp"

std::vector<Claim> skeinformer_claims() {
  return {};
}
