// The checks of Skyformer's claims.
#pragma once

#include <croquis/claims/claim.hpp>

namespace croquis::claims {

Report check_lemma1(const Check& check);
Report check_lift(const Check& check);
Report check_order(const Check& check);
Report check_theorem2(const Check& check);
Report check_lemma3_stated(const Check& check);
Report check_lemma3_corrected(const Check& check);
Report check_bernstein(const Check& check);
Report check_multiplication(const Check& check);
Report check_statistical_dimension(const Check& check);
Report check_conditioning(const Check& check);

}  // namespace croquis::claims
