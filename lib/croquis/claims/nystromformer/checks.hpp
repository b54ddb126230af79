// The checks of Nystromformer's claims.
#pragma once

#include <croquis/claims/claim.hpp>

namespace croquis::claims {

Report check_lemma1_strict(const Check& check);         ///< nys.lemma1/strict
Report check_third_order(const Check& check);           ///< nys.lemma1/charitable
Report check_start_strict(const Check& check);          ///< nys.start/strict
Report check_start_charitable(const Check& check);      ///< nys.start/charitable
Report check_rounding(const Check& check);              ///< nys.rounding/strict
Report check_six_iterations(const Check& check);        ///< nys.six-iterations/norm
Report check_penrose_first(const Check& check);         ///< nys.six-iterations/penrose-1
Report check_penrose_second(const Check& check);        ///< nys.six-iterations/penrose-2
Report check_penrose_symmetry(const Check& check);      ///< nys.six-iterations/penrose-3-4
Report check_six_output(const Check& check);            ///< nys.six-iterations/output
Report check_all_landmarks(const Check& check);         ///< nys.lemma2/all-points
Report check_superset_charitable(const Check& check);   ///< nys.lemma2/superset-nonsingular
Report check_superset_strict(const Check& check);       ///< nys.lemma2/strict
Report check_landmarks_sufficient(const Check& check);  ///< nys.landmarks/threshold
Report check_cost_strict(const Check& check);           ///< nys.cost/strict
Report check_cost(const Check& check);                  ///< nys.cost/charitable
Report check_cost_memory(const Check& check);           ///< nys.cost/memory

}  // namespace croquis::claims
