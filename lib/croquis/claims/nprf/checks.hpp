// The checks of NPRF's claims on relative positions and random features.
#pragma once

#include <croquis/claims/claim.hpp>

namespace croquis::claims {

Report check_expressiveness(const Check& check);    ///< rpe.prop1
Report check_toeplitz(const Check& check);          ///< rpe.toeplitz
Report check_feature_variance(const Check& check);  ///< rpe.lemma2
Report check_feature_means(const Check& check);     ///< rpe.unbiased
Report check_feature_number(const Check& check);    ///< rpe.thm3
Report check_fft_cost(const Check& check);          ///< rpe.fftcost

}  // namespace croquis::claims
