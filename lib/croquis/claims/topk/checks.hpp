// The checks of the claims on renormalised masks.
#pragma once

#include <croquis/claims/claim.hpp>

namespace croquis::claims {

Report check_tail_mass(const Check& check);    ///< topk.tail-mass/any-mask
Report check_tail_output(const Check& check);  ///< topk.output/any-mask

}  // namespace croquis::claims
