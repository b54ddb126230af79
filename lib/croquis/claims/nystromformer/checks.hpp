// The checks of Nystromformer's claims: Lemma 1, Lemma 2, "six iterations".
#pragma once

#include <croquis/claims/claim.hpp>

namespace croquis::claims {

Report check_third_order(const Check& check);     ///< nys.lemma1
Report check_all_landmarks(const Check& check);   ///< nys.lemma2
Report check_six_iterations(const Check& check);  ///< nys.six-iterations

}  // namespace croquis::claims
