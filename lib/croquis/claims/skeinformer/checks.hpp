// The checks of Skeinformer's claims.
#pragma once

#include <croquis/claims/claim.hpp>

namespace croquis::claims {

Report check_unbiased(const Check& check);         ///< ske.unbiased
Report check_jl(const Check& check);               ///< ske.jl
Report check_product(const Check& check);          ///< ske.prop1
Report check_pilot_as_stated(const Check& check);  ///< ske.lemma1.stated
Report check_pilot_quality(const Check& check);    ///< ske.lemma1.empirical
Report check_flops(const Check& check);            ///< ske.flops
Report check_flops_corrected(const Check& check);  ///< ske.flops.corrected

}  // namespace croquis::claims
